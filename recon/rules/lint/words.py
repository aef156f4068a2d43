"""What names say: which functions differ on every call, which names hold a call's id or an attempt's number.

Never looks at a tree: names in, answers out.
"""

import re

from recon.model.records.flaws import Rule

# Last parts of functions that are random whatever module a name came from.
_RANDOM = re.compile(
    r"""(?:^|\.)(?:
        uuid[14678] | shortuuid\.(?:ShortUUID\(\)\.)?(?:uuid|random)
        | secrets\.(?:token_\w+|randbelow|randbits|choice) | token_(?:hex|urlsafe|bytes)
        | random\.(?:random|rand\w+|choices?|sample|getrandbits|uniform|getrandom|bytes)
        | os\.urandom | urandom | randint | randbelow | getrandbits | get_random_string | getrandom
        | ULID | ulid\.\w+ | ULID\.from_(?:timestamp|datetime) | new_ulid | ulid
        | nanoid(?:\.generate)? | cuid2?(?:\.\w+)? | ksuid(?:\.\w+)? | Ksuid | KsuidMs | xid\.XID | ObjectId
        | SystemRandom\(\)\.\w+
    )$""",
    re.VERBOSE,
)
_CLOCK = re.compile(
    r"""(?:^|\.)(?:
        time\.(?:time|monotonic|perf_counter|process_time)(?:_ns)?
        | (?:time|monotonic|perf_counter)_ns | monotonic | perf_counter | utcnow | time\.time
        | (?:datetime|date|timezone|pendulum|arrow|DateTime|Timestamp|whenever|Instant)\.(?:now|utcnow|today)
        | time\.(?:ctime|gmtime|localtime|strftime) | get_event_loop\(\)\.time | get_running_loop\(\)\.time
        | now_utc | utc_now
    )$""",
    re.VERBOSE,
)
_PROCESS = re.compile(
    r"""(?:^|\.)(?:
        get_ident | get_native_id | getpid | getppid | current_thread\(\)\.(?:name|ident|native_id|getName)
        | itertools\.count | current_process\(\)\.(?:pid|name|ident)
        | current_task\(\)\.(?:get_name|name) | gethostname
    )$""",
    re.VERBOSE,
)
_ATTEMPT = re.compile(
    r"(?:n_|num_|current_|this_|the_|i_)?(?:attempts?|retry|retries|tries|try)(?:_(?:made|done))?"
    r"(?:_?(?:no|num|number|count|counter|index|idx|nr|id|n|i|so_far))?|(?:\w+_)?(?:counter|nonce)|"
    r"call_(?:count|number|no)"
)
_CALL = re.compile(
    r"(?:\w+_)?(?:tool_?call|tool_?use|function_?call)_?(?:id|uuid)s?"
    r"|(?:(?:x|http|aws|api|my|the|current|get|new|make|generate|create|original|incoming|last|this)_)*"
    r"(?:call|request|req|trace|span|correlation|invocation)_?(?:id|uuid)(?:_(?:var|ctx|context))?"
    r"|(?:the_|current_|get_|parent_)?(?:thread|conversation|chat|run)_id"
)
_CALLERS = re.compile(r"(?:\w+_)?(?:tool_?call|tool_?use|function_?call)s?|call|block|tc|fc")
# How frameworks mark a function that a model calls.
_TOOL = re.compile(
    r"(?:\w+_)?(?:tools?|function_tool|kernel_function|ai_function|action|skill|structured_tool)(?:_\w+)?"
)
# Arguments of a tool that a model makes up anew each time, beside the key itself.
_MODELS = re.compile(r"(?:\w+_)?(?:reason|note|comment|message|explanation|justification|description)s?")
_KEY = re.compile(
    r"(?:\w+_)?idempoten(?:cy|ce|t)(?:_?(?:key|token|id|uuid|header|reference)(?:_(?:value|header|str))?)?"
    r"|(?:\w+_)?pay_?pal_request_id"
)
_PASSES_ON = re.compile(
    r"str|repr|int|float|round|bytes|hex|hash|abs|format|tuple|list|sorted|map|next|cast|SecretStr|UUID|"
    r"uuid[35]|"
    r"md5|sha\d+|sha3_\d+|blake2[bs]|new|hexdigest|digest|dumps|b\d+encode|urlsafe_b64encode|quote|"
    r"quote_plus|encode|"
    r"decode|join|replace|strip|lower|upper|isoformat|timestamp|strftime|split|rsplit|zfill|"
    r"removeprefix|format_map|"
    r"total_seconds|concat"
)
_DERIVES = re.compile(r"key|idem|hash|digest|fingerprint", re.IGNORECASE)
_STORES = re.compile(
    r"(?:\w*_)?(?:save|store|insert|put|set|setdefault|hset|setnx|add|persist|record|remember|upsert|"
    r"write|commit|"
    r"execute|get_or_\w+)(?:_\w+)?"
)
_KEEPS = re.compile(r"(?:\w*_)?(?:get_or_\w+|setdefault|find_or_\w+|load_or_\w+|claim\w*|reserve\w*)")
_STORED = re.compile(
    r"(?:[A-Z]\w*)?(?:Intent|Record|Row|Entity|Model|Entry|Order|Job|Task|Run|Operation|Event|Ledger|"
    r"Refund|Payment|"
    r"Transaction|Payout|Transfer|Charge|Command)s?"
)
_MOVES = re.compile(
    r"(?:(?:create|issue|make|send|do|execute|process|submit|initiate|trigger|perform|request|try|safe|"
    r"async|a)_)*"
    r"(?:refund|payout|pay_out|transfer|charge|reimburse|disburse|pay|payment_intent|payment)s?"
    r"(?:_(?:order|payment|customer|charge|card|money|funds|user|amount|invoice|async|create|"
    r"captured_payment|"
    r"transaction|out|tool|once|full|partial|credit|item|purchase|intent|the|an?|to|by|now|sync))*"
)
_QUIET = re.compile(
    r"debug|info|warn(?:ing)?|error|exception|critical|log\w*|bind\w*|print|isinstance|len|assert\w*|mock|"
    r"(?:\w+_)?(?:get|filter|filter_by|find|exists|lookup|look_up|select|where|query|fetch|check|"
    r"validate|verify)(?:_\w+)?"
)
_TESTED = re.compile(r"test_\w*|\w*_test|conftest")


def snake(name: str) -> str:
    """Return a name in lower case with underscores: `X-Request-ID` is `x_request_id`, `callId` `call_id`."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_")


def of_function(name: str) -> Rule | None:
    """Return which rule a key breaks that is made by calling this dotted name; None when none is known."""
    if _RANDOM.search(name):
        return Rule.KEY_FROM_RANDOM
    if _CLOCK.search(name):
        return Rule.KEY_FROM_CLOCK
    if _PROCESS.search(name) or name in {"id", "hash"}:  # The hash of a text is another in each process.
        return Rule.KEY_FROM_ATTEMPT
    last = snake(name.rpartition(".")[2])
    return Rule.KEY_FROM_CALL_ID if _CALL.fullmatch(last) else None


def of_name(name: str) -> Rule | None:
    """Return which rule a key breaks that holds what a name says; None when it says nothing of the kind."""
    simple = snake(name)
    if _ATTEMPT.fullmatch(simple):
        return Rule.KEY_FROM_ATTEMPT
    return Rule.KEY_FROM_CALL_ID if _CALL.fullmatch(simple) else None


def is_attempt(name: str) -> bool:
    """Return whether a name counts attempts."""
    return bool(_ATTEMPT.fullmatch(snake(name)))


def is_process(name: str) -> bool:
    """Return whether a dotted chain, with or without a call at its end, names a thread or a process."""
    return bool(_PROCESS.search(name))


def is_caller(name: str) -> bool:
    """Return whether a thing of this name is one call of a tool, so that its `id` is that call's."""
    return bool(_CALLERS.fullmatch(snake(name)))


def is_key(name: str) -> bool:
    """Return whether a keyword, header, field or variable of this name holds an idempotency key."""
    return bool(_KEY.fullmatch(snake(name)))


def marks_a_tool(decorator: str) -> bool:
    """Return whether a decorator of this name makes a function one that a model calls."""
    return bool(_TOOL.fullmatch(snake(decorator)))


def is_models(name: str) -> bool:
    """Return whether an argument of a tool of this name is of the model's making."""
    return is_key(name) or bool(_MODELS.fullmatch(snake(name)))


def passes_on(function: str) -> bool:
    """Return whether a function of this name gives back its object or arguments in another form."""
    return bool(_PASSES_ON.fullmatch(function))


def derives(function: str) -> bool:
    """Return whether a function of this name, which is not shown, makes a key of its arguments."""
    return bool(_DERIVES.search(function))


def stores(function: str) -> bool:
    """Return whether a function of this name may keep what it is given."""
    return bool(_STORES.fullmatch(snake(function.rpartition(".")[2])))


def keeps_the_first(function: str) -> bool:
    """Return whether a function of this name gives back what was kept earlier, the new one only at first."""
    return bool(_KEEPS.fullmatch(snake(function.rpartition(".")[2])))


def is_stored(kind: str) -> bool:
    """Return whether a class of this name is a row that is kept, and not a request that is sent."""
    return bool(_STORED.fullmatch(kind.rpartition(".")[2]))


def moves_money(function: str) -> bool:
    """Return whether a function of this name pays, refunds or charges, whoever wrote it."""
    return bool(_MOVES.fullmatch(snake(function.rpartition(".")[2])))


def is_quiet(function: str) -> bool:
    """Return whether a function of this name only reads, notes or checks the key that it is given."""
    return bool(_QUIET.fullmatch(snake(function.rpartition(".")[2])))


def is_test(module: str) -> bool:
    """Return whether a module of this name holds tests, in which every key is a new intent's."""
    return bool(_TESTED.fullmatch(module.removesuffix(".py").removesuffix(".pyi")))
