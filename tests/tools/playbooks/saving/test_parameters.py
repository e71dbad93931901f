from deskhand.tools.playbooks.playbook import Parameter, Target
from deskhand.tools.playbooks.saving.parameters import TypedTexts, slug
from deskhand.tools.playbooks.texts import filled

CUSTOMER = Target("entry", "Customer name")


def test_a_name_is_made_of_the_label() -> None:
    assert slug("Größe der Straße (cm)", "text") == "groe-der-strae-cm"
    assert slug("2 persons", "text") == "text"
    assert slug("", "text") == "text"
    assert slug("a" * 29 + " b c", "text") == "a" * 29


def test_a_typed_text_becomes_a_parameter_with_its_default() -> None:
    typed = TypedTexts()
    assert typed.parameter("Ada\n", CUSTOMER) == "{customer-name}\n"
    assert typed.parameters == {"customer-name": Parameter("Ada")}


def test_equal_texts_of_one_field_share_a_parameter_and_others_do_not() -> None:
    typed = TypedTexts()
    texts = [typed.parameter(text, CUSTOMER) for text in ("Ada", "Ada", "Eve", "Eve")]
    assert texts == ["{customer-name}"] * 2 + ["{customer-name-2}"] * 2
    assert typed.parameter("x", None) == "{text}"


def test_a_hidden_text_has_no_default() -> None:
    typed = TypedTexts()
    assert typed.parameter("9 characters", Target("password text"), hidden=True) == "{text}"
    assert typed.parameter("9 characters", Target("password text"), hidden=True) == "{text-2}"
    assert typed.parameters == {"text": Parameter(), "text-2": Parameter()}


def test_white_space_stays_as_it_is() -> None:
    assert TypedTexts().parameter(" \n", CUSTOMER) == " \n"


def test_values_are_replaced_in_other_texts() -> None:
    typed = TypedTexts()
    assert typed.replaced("{x}") == "{{x}}"
    typed.parameter("Ada", CUSTOMER)
    typed.parameter("Ada Byron", Target("entry", "Full"))
    typed.parameter("No", Target("entry", "Short"))
    text = typed.replaced("No {order} of Ada Byron and Ada.")
    assert text == "No {{order}} of {full} and {customer-name}."
    assert filled(text, {"full": "A", "customer-name": "B"}) == "No {order} of A and B."
