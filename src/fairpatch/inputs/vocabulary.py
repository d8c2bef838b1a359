"""What names say: of columns and values, in the languages of the tables that we have met.

A name is a hint and no proof: what it suggests is asked for, or left unread until somebody says
why it may be used.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fairpatch._tools.hints import hint

if TYPE_CHECKING:
    from fairpatch.decision import Decision

UNKNOWN = (
    "unknown", "unk", "na", "n/a", "none given", "missing", "refused", "no answer", "no response",
    "not available", "not applicable", "not provided", "not stated", "not disclosed", "not known",
    "not reported", "not specified", "undisclosed", "unspecified", "undeclared", "withheld",
    "information not provided", "choose not to answer", "chose not to say", "rather not say",
    "not recorded", "nicht erfasst", "nicht erhoben", "firma", "company", "business",
    "unbekannt", "keine angabe", "keine angaben", "k.a.", "ka", "k a",
    "nicht angegeben", "nicht bekannt",
    "inconnu", "inconnue", "non renseigne", "non renseigné", "non precise", "non précisé",
    "non communique", "non communiqué", "nc", "sans reponse", "sans réponse",
    "desconocido", "desconocida", "no consta", "no informado", "no informada", "no declarado",
    "ns/nc", "sin informacion", "sin información", "sconosciuto", "sconosciuta", "non specificato",
    "non dichiarato", "onbekend", "niet opgegeven", "desconhecido", "nao informado",
    "não informado", "nao declarado", "não declarado", "okand", "okänd", "ej angivet", "ukjent",
    "ikke oppgitt", "brak danych", "nieznane", "nieznana", "?", "-", "--",
)  # fmt: skip
UNKNOWN_BEGINS = (
    "prefer not", "declin", "do not wish", "don't wish", "does not wish", "i do not", "i don't",
    "i'd rather not", "wish not", "möchte nicht", "moechte nicht", "will nicht", "ne souhaite",
    "je ne souhaite", "préfère ne pas", "prefere ne pas", "prefiero no", "prefiere no",
    "preferisco non", "zeg ik liever", "liever niet", "prefiro não", "prefiro nao", "vill inte",
    "vill ej", "unknown", "unbekannt",
)  # fmt: skip
UNKNOWN_ENDS = ("not available", "not provided", "not applicable", "not stated", "not disclosed")
CODED = {
    re.compile(r"^(co_?)?applicant_?sex$"): (3, 4, 5),
    re.compile(r"^(co_?)?applicant_?race(_?\d)?$"): (6, 7, 8),
    re.compile(r"^(co_?)?applicant_?ethnicity(_?\d)?$"): (3, 4, 5),
    re.compile(r"(^|.*_)(sex|gender|geschlecht|sexe|sexo)(_?(cd|code|id))?$"): (0, 9),
}
"""Codes of HMDA's register: not provided, not applicable, no co-applicant; and of ISO 5218."""
SPELLED = (
    ("female", "f", "fem", "woman", "women", "w", "weiblich", "frau", "fr", "femme", "feminin",
     "féminin", "mujer", "femenino", "vrouw", "vrouwelijk", "donna", "femmina", "feminino",
     "kvinna"),
    ("male", "m", "man", "men", "mann", "männlich", "maennlich", "homme", "masculin", "hombre",
     "masculino", "herr", "hr", "h", "mannelijk", "uomo", "maschio", "kille"),
)  # fmt: skip
"""Words that mean the same group."""
PROTECTED = (
    "birth", "born", "sexual", "gender", "race", "ethnic", "skin", "nationality",
    "citizen", "immigra", "foreign", "religio", "faith", "disab", "handicap", "pregnan", "matern",
    "marital", "marriage",
    "married", "spouse", "dependent", "children", "orientation", "language", "native", "ancestry",
    "surname", "firstname", "lastname", "maiden", "postcode", "zipcode", "ageband", "agegroup",
    "hispanic", "latino", "veteran", "household", "health", "family", "parent", "neighbo",
    "country", "politic",
    "altersgr", "altersklass", "altersband", "schwerbehind", "muttersprach", "erstsprach",
    "geschlecht", "familienstand", "staatsang", "nationalit", "konfession", "kinder", "sprache",
    "postleitzahl", "geburt", "herkunft", "behinder", "schwanger", "vorname", "nachname", "anrede",
    "matrimonial", "enfant", "langue", "naissance", "prenom", "prénom", "civilite",
    "civilité", "nacionalidad", "hijos", "idioma", "religion", "religión", "discapacidad",
    "apellido", "geslacht", "burgerlijke", "nationaliteit", "kinderen", "leeftijd", "nazionalit",
    "naam",
)  # fmt: skip
"""Beginnings of words: a prohibited basis somewhere, or as good as one."""
PROTECTED_WORDS = (
    "age", "agep", "ages", "dob", "sex", "sexe", "sexo", "gndr", "mar", "mrtl", "mstat",
    "lang", "lng", "zip",
    "zip3", "zip5", "cbsa", "msa", "tract", "plz", "pob", "pobp", "rac", "rac1p", "rac2p", "rac3p",
    "hisp", "nativity", "cit", "relp", "relshipp", "lanx", "eng", "child", "kids", "dependents",
    "dep", "deps", "origin", "nationality", "national", "citz", "alter", "edad", "âge", "eta",
    "età", "sesso", "figli", "lingua", "taal", "male", "female", "man", "woman", "wife", "husband",
    "mr", "mrs", "civil", "welfare", "tanf", "snap", "nom", "nombre", "cognome",
    "relationship", "colour", "color", "union",
)  # fmt: skip
"""Whole words, with the usual abbreviations."""
PROTECTED_PHRASES = (
    "public assist", "pub assist", "pa inc", "pub asst", "assist inc", "code postal",
    "codigo postal", "código postal", "estado civil", "stato civile", "etat civil", "état civil",
    "situation familiale", "national origin", "family status", "family size", "family structure",
    "skin color", "union member", "country of",
)  # fmt: skip
HARMLESS = (
    "job family", "product family", "credit union", "account age", "age of", "file age", "car age",
    "vehicle age", "building age", "loan age", "property age", "programming language",
    "relationship months", "relationship years", "relationship length", "bank relationship",
    "civil service", "skill",
)  # fmt: skip
"""Company in which such a word means something else."""
LATER = (
    "final decision", "decision", "application status", "loan status", "account status",
    "current status", "case status", "action taken", "approved", "approval", "declined", "denied",
    "decline reason", "denial reason", "reject", "adverse action", "offered", "offer", "booked",
    "funded", "disburs", "originated", "dpd", "days past due", "delinquency status", "chargeoff",
    "charge off", "charged off", "writeoff", "write off", "recovery", "recoveries", "collection",
    "repaid", "prepaid", "paid off", "last payment", "settlement", "hired", "hire date", "invited",
    "interview", "onsite", "offer accepted", "stage", "disposition", "outcome", "result",
    "entscheidung", "bescheid", "abgelehnt", "ablehnung", "genehmigt", "zusage", "absage",
    "mahnstufe", "mahnung", "ausfall", "rueckstand", "rückstand", "auszahlung", "décision",
    "refus", "accord", "impayé", "impaye", "decision final", "decisión", "rechaz", "aprobad",
    "mora", "besluit", "afgewezen", "esito",
)  # fmt: skip
"""What says that a column follows the decision; evidence in its values must go with it."""
FAVOURED = (
    "yes", "y", "approve", "approved", "approval", "accept", "accepted", "grant", "granted", "hire",
    "hired", "invite", "invited", "offer", "offered", "pass", "passed", "admit", "admitted",
    "release", "released", "advance", "advanced", "booked", "originated", "funded",
    "ok", "ja", "genehmigt", "bewilligt",
    "angenommen", "zusage", "oui", "accepté", "accepte", "accordé", "accorde", "si", "sí",
    "aprobado", "aprobada", "aceptado", "aceptada", "concedido", "akkoord", "goedgekeurd",
    "approvato", "accettato",
)  # fmt: skip
DENIED = (
    "no", "n", "decline", "declined", "deny", "denied", "denial", "reject", "rejected", "refuse",
    "refused", "fail", "failed", "turned down", "detain", "detained", "not approved", "nein",
    "abgelehnt", "ablehnung", "absage", "non", "refusé", "refuse", "rejeté", "rechazado",
    "rechazada", "denegado", "denegada", "nee", "afgewezen", "rifiutato", "respinto",
)  # fmt: skip
"""Decisions as tables have them: good for a person, and not."""
PERSON = (
    "candidate", "applicant", "customer", "client", "person", "people", "member", "borrower",
    "patient", "employee", "student", "user", "debtor", "kunde", "bewerber", "antragsteller",
    "policyholder", "insured", "versicher", "vn", "halter", "mitarbeiter", "cliente",
    "candidat", "demandeur", "persona", "klant", "solicitante",
)  # fmt: skip
NUMBERED = (
    "id", "ids", "nr", "no", "num", "number", "key", "uuid", "guid", "code", "nummer", "ref",
    "hash", "email", "ssn",
)  # fmt: skip
"""What makes of a person's name that of a number."""
YEARS = (
    "year", "yr", "jahr", "annee", "année", "ano", "año", "anno", "jaar", "vintage", "cohort",
)  # fmt: skip


def words_of(name: str) -> list[str]:
    """The words of a column's name, however they are put together.

    >>> words_of("MaritalStatus"), words_of("pa_inc_flg"), words_of("RAC1P")
    (['marital', 'status'], ['pa', 'inc', 'flg'], ['rac1p'])
    """
    apart = re.sub(r"([a-zà-ÿ])([A-Z])", r"\1 \2", str(name))
    return [word for word in re.split(r"[^0-9a-zA-ZÀ-ÿ]+", apart.lower()) if word]


def has_word(name: str, words: Sequence[str]) -> bool:
    """Whether a name has one of some words, or phrases; the last letters of a word may differ.

    >>> has_word("loan_status_cd", LATER), has_word("employment_status", LATER)
    (True, False)
    """
    said = " ".join(words_of(name))
    return any(re.search(rf"\b{re.escape(word)}", said) for word in words)


def is_protected(name: str, more: Sequence[str] = ()) -> bool:
    """Whether a column's name says a prohibited basis, or what is as good as one.

    ``more`` are words that somebody has added.

    >>> [is_protected(c) for c in ("age", "marital-status", "preferred_language", "pa_inc_flg")]
    [True, True, True, True]
    >>> [is_protected(c) for c in ("mileage", "wages", "job_family", "account_age", "origination")]
    [False, False, False, False, False]
    """
    words = words_of(name)
    said = " ".join(words)
    added = [m.lower() for m in more]
    if any(phrase in said for phrase in (*PROTECTED_PHRASES, *added)):
        return True
    if any(phrase in said for phrase in HARMLESS):
        return False
    return any(
        word in PROTECTED_WORDS or word.rstrip("0123456789") in PROTECTED_WORDS
        or word.startswith(PROTECTED)
        for word in words
    )  # fmt: skip


def is_unknown(value: Any) -> bool:
    """Whether a value of a sensitive feature says that nobody knows.

    >>> [is_unknown(v) for v in ("Decline to state", "Race Not Available", "keine Angabe", "other")]
    [True, True, True, False]
    """
    said = " ".join(re.sub(r"[_.,;]+", " ", str(value)).casefold().split())
    return (
        str(value).casefold().strip() in UNKNOWN
        or said in UNKNOWN
        or said.startswith(UNKNOWN_BEGINS)
        or said.endswith(UNKNOWN_ENDS)
    )


def unknown_codes(feature: str, found: Collection[Any]) -> tuple[int, ...]:
    """Codes of a public register that say so, by the name of its column and its other codes.

    >>> unknown_codes("sex", [0, 1, 2, 9]), unknown_codes("sex", [0, 1])
    ((0, 9), ())
    """
    lower = feature.lower()
    codes = next((codes for name, codes in CODED.items() if name.match(lower)), ())
    return codes if 1 in found and 2 in found else ()


def group_word(value: Any) -> str:
    """What a value of a sensitive feature is called, however it is written.

    >>> group_word(" Woman"), group_word("F"), group_word("Non-White")
    ('female', 'female', 'non white')
    """
    said = " ".join(re.split(r"[^0-9a-zà-ÿ]+", str(value).casefold())).strip()
    return next((same[0] for same in SPELLED if said in same), said)


def says(value: Any, some: Sequence[str]) -> bool:
    """Whether a word of a decision, or one in it, is one of some.

    >>> says("Loan originated", FAVOURED), says("Application denied", FAVOURED)
    (True, False)
    """
    said = str(value).casefold().strip()
    return said in some or any(word in some for word in words_of(said))


def is_person(name: str) -> bool:
    """Whether a name is that of a person's number.

    >>> [is_person(c) for c in ("candidate_id", "Kunden-Nr", "customerNumber", "req_id", "income")]
    [True, True, True, False, False]
    """
    words = words_of(name)
    whole = "".join(words)
    named = any(word.startswith(PERSON) for word in words)
    numbered = any(word in NUMBERED for word in words) or whole.endswith(NUMBERED)
    return (named and numbered) or whole in ("id", "ssn", "email", "personid", "nif", "dni", "bsn")


# Which column of a table a model means: libraries rewrite names in their own ways.
#
# LightGBM turns blanks into underscores, XGBoost takes no brackets, others no accents or upper
# case. A name is matched to a column where, written plainly, exactly one is the same and no other
# name wants it; anything else is for a person to say.


def columns_for(wanted: Sequence[str], have: Sequence[str]) -> dict[str, str]:
    """For each of a model's names the table's column; a name that has none, or two, is not there.

    >>> columns_for(["Miete_monatl.", "age"], ["Miete monatl.", "age", "Age 2"])
    {'Miete_monatl.': 'Miete monatl.', 'age': 'age'}
    >>> columns_for(["a_b"], ["a.b", "a-b"])
    {}
    """
    found = {name: name for name in wanted if name in have}
    left = [name for name in have if name not in found]
    for written in (_blanks, _signs, _plainly):
        open_ones = [name for name in wanted if name not in found]
        here = {name: [c for c in left if written(c) == written(name)] for name in open_ones}
        for name, columns in here.items():
            rivals = [other for other in open_ones if written(other) == written(name)]
            if len(columns) == 1 and len(rivals) == 1:
                found[name] = columns[0]
        left = [name for name in left if name not in found.values()]
    return {name: found[name] for name in wanted if name in found}


def _blanks(name: str) -> str:
    return re.sub(r"\s", "_", name)


def _signs(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _plainly(name: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return re.sub(r"[\W_]+", "_", bare).strip("_").lower()


# Which decision is good for a person: never guessed, and asked for where words suggest a harm.
#
# A model of default that is taken for one of repayment would be patched, and certified, the wrong
# way round, with every figure in order.

HARMS = (
    "arrears", "arrest", "attrition", "ausfall", "ausgefallen", "bankrupt", "betrug", "charged_off",
    "chargeoff", "churn", "convict", "default", "delinquen", "denied", "dropout", "fraud",
    "impago", "insolven", "kuendig", "kündig", "mahn", "recid", "reject", "reoffend", "rueckfall",
    "rückfall", "verzug", "writeoff", "defaut", "défaut", "sinistre", "siniestro", "sinistro",
    "fraude", "frode", "moros", "wanbetal", "schade", "schäde", "storno", "stornier", "resilia",
)  # fmt: skip
"""Beginnings of words that name something bad for a person, as labels have them."""
INSIDE = ("schaden", "schäden", "ausfall", "zahlungsverzug", "betrug", "insolvenz")
"""What does so in the middle of a word, too, as German puts words together."""
WHOLE = ("bad", "late", "schlecht", "lapse")
"""Words that do so by themselves only."""
NOT = ("no", "not", "non", "kein", "keine", "nicht", "ohne", "never", "un")
FREE = ("frei", "freiheit", "free")
"""Ends of words that deny a harm: schadenfrei."""


def harm_in(texts: Iterable[Any]) -> str | None:
    """The first text that names a harm, unless it denies it.

    >>> harm_in(["Ausfall 12M"]), harm_in(["no_default"]), harm_in(["repaid", 1])
    ('Ausfall 12M', None, None)
    >>> harm_in(["Großschaden"]), harm_in(["schadenfrei"]), harm_in(["bevorzugt"])
    ('Großschaden', None, None)
    """
    for text in texts:
        words = re.findall(r"[^\W\d_]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", str(text)).lower())
        if any(word in NOT or word.endswith(FREE) for word in words):
            continue
        if any(
            word in WHOLE or word.startswith(HARMS) or any(harm in word for harm in INSIDE)
            for word in words
        ):
            return str(text)
    return None


def check_direction(decision: "Decision", label: Any, positive: Any, score: Any = None) -> None:
    """Refuse to go on where nobody said which decision is good, and the words suggest a harm.

    ``label`` and ``score`` are the names of their columns, where they have any.
    """
    if "favourable" in decision.model_fields_set:
        return
    names = [name for name in (label, score) if isinstance(name, str)]
    harm = harm_in([*names, decision.positive_words, positive])
    if harm is not None:
        raise ValueError(
            f"{harm!r} sounds like a harm, and nobody said which decision is good for a person: "
            + hint("Decision(favourable=0)", "--favourable 0")
            + " where a high score speaks against them, "
            + hint("Decision(favourable=1)", "--favourable 1")
            + " where it speaks for them"
        )
