import pytest

from deskhand.desktop.network.public_addresses import is_public

PUBLIC = (
    *("93.184.216.34", "168.63.129.15", "172.32.0.1", "192.0.3.1", "2606:2800:220:1::1"),
    *("::ffff:93.184.216.34", "64:ff9b::5db8:d822", "2002:5db8:d822::1", "2a00::1", "2400:cb00::1"),
)
NOT_PUBLIC = (
    *("127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "0.0.0.0"),
    *("100.64.0.1", "192.0.0.192", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    # What Azure serves to each virtual machine.
    *("168.63.129.16", "::ffff:168.63.129.16", "64:ff9b::a83f:8110", "2002:a83f:8110::"),
    *("::", "::1", "::127.0.0.1", "::7f00:1", "::93.184.216.34", "::ffff:127.0.0.1"),
    *("::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "64:ff9b:1:ffff::7f00:1"),
    *("64:ff9b::1:0:0", "fe80::1", "fe80::1%eth0", "2606:2800:220:1::1%eth0", "fec0::1"),
    *("feff::1", "fc00::1", "fd00:ec2::254", "ff02::1", "ff0e::1", "100::1", "5f00::1"),
    *("2002:7f00:1::", "2002:a00:1::", "2001:0:7f00:1::", "2001:0:5db8:d822::", "2001:db8::1"),
    *("2001:2::1", "2001:20::1", "3fff::1", "4000::1", "e000::1"),
    *("localhost", "example.com", "", "127.1", "0x7f000001", "93.184.216.34/32"),
)


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_addresses_of_this_machine_of_its_networks_and_of_no_one_are_not(address: str) -> None:
    assert not is_public(address)
