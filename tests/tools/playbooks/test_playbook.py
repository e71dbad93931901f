from deskhand.tools.playbooks.playbook import PlaybookStep, Target


def test_typing_replaces_the_text_of_a_target_only() -> None:
    assert PlaybookStep("type", target=Target("entry")).replaces
    assert not PlaybookStep("type").replaces
    assert PlaybookStep("type", replace=True).replaces


def test_a_target_with_role_or_name_has_an_identity() -> None:
    assert Target(role="button").has_identity
    assert Target(name="Save").has_identity
    assert not Target(point=(1, 2), patch="patches/1.png").has_identity
