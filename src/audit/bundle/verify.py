#!/usr/bin/env python3
"""Verifies an exported audit log of Wardpost without Wardpost. Needs Python 3.8 and nothing else.

    python3 verify.py [BUNDLE.zip | FOLDER] [--key FINGERPRINT] [--against FILE] [--json]

Without an argument it verifies the folder that it lies in. --key is the fingerprint of the signing key as you noted it
down earlier; without it the key in the bundle is believed, and printed for you to compare. --against is a file of
signed lines that was kept elsewhere (checkpoints.log, or what was mailed to you). Exit code: 0 whole, 1 not, 2 usage.

    h_0 = SHA256("wardpost/audit/v1/genesis\\0" || instance_id || "\\0" || tenant_id)
    h_n = SHA256("wardpost/audit/v1/entry\\0" || h_(n-1) || SHA256(entry_n))
    pii = SHA256(salt || personal values)
    statements are signed with Ed25519 over "wardpost/audit/v1/statement\\0" || canonical JSON without "sig"
"""
import base64, hashlib, io, json, os, sys, zipfile

GENESIS = b"wardpost/audit/v1/genesis\0"
ENTRY = b"wardpost/audit/v1/entry\0"
STATEMENT = b"wardpost/audit/v1/statement\0"
MANIFEST = b"wardpost/audit/v1/manifest\0"
SYSTEM = "_system"


def sha(data):
    return hashlib.sha256(data).digest()


# --- Ed25519 (RFC 8032, section 5.1.7) ---------------------------------------------------------------------------
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def recover(y, sign):
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    return P - x if x & 1 != sign else x


def point(data):
    number = int.from_bytes(data, "little")
    y = number & ((1 << 255) - 1)
    x = recover(y, number >> 255)
    return None if x is None else (x, y, 1, x * y % P)


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(scalar, p):
    out = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            out = add(out, p)
        p = add(p, p)
        scalar >>= 1
    return out


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recover(BASE_Y, 0), BASE_Y, 1, recover(BASE_Y, 0) * BASE_Y % P)


def signed(public, message, signature):
    a = point(public) if len(public) == 32 and len(signature) == 64 else None
    r = point(signature[:32]) if a else None
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    p, q = times(s, BASE), add(r, times(k, a))
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0


# --- The bundle --------------------------------------------------------------------------------------------------
class Bundle:
    def __init__(self, path):
        self.zip = None if os.path.isdir(path) else zipfile.ZipFile(path)
        self.path = path

    def open(self, name):
        return self.zip.open(name) if self.zip else open(os.path.join(self.path, name), "rb")

    def read(self, name):
        with self.open(name) as file:
            return file.read()

    def lines(self, name):
        with self.open(name) as file:
            for line in io.BufferedReader(file) if self.zip else file:
                yield line.rstrip(b"\n")

    def digest(self, name):
        hashed = hashlib.sha256()
        with self.open(name) as file:
            for piece in iter(lambda: file.read(1 << 20), b""):
                hashed.update(piece)
        return hashed.hexdigest()


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def unbase64(text):
    """The bytes of base64 in its one canonical form; none for anything else."""
    try:
        data = base64.b64decode(text)
        return data if base64.b64encode(data).decode("ascii") == text else b""
    except (ValueError, TypeError):
        return b""


def unhex(text):
    """The bytes of lower-case hex; none for anything else."""
    return bytes.fromhex(text) if len(text) % 2 == 0 and set(text) <= set("0123456789abcdef") else b""


def statement_of(line):
    try:
        value = json.loads(line)
        signature = unbase64(value.pop("sig"))
        if value["v"] != 1 or len(signature) != 64 or not isinstance(value["key"], str):
            return None
        if not isinstance(value["signed_at"], int) or not isinstance(value["kind"], str):
            return None
        own = [] if value["kind"] == "key" else [value]
        for head in value.get("chains", []) + own:
            if not isinstance(head["seq"], int) or len(unhex(head["hash"])) != 32:
                return None
        return {"line": line, "value": value, "signature": signature}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


# --- What was signed ---------------------------------------------------------------------------------------------
class Evidence:
    def __init__(self, manifest, trusted, keys, lines):
        self.chain, self.trusted, self.keys = manifest["tenant_id"], {trusted}, dict(keys)
        self.vouched, self.claims, self.start, self.bad, self.lost = set(), [], None, None, {}
        piles, seen = {"checkpoint": [], "start": [], "incarnation": [], "key": []}, set()
        for line in lines:
            read = None if line in seen else statement_of(line)
            seen.add(line)
            if read and read["value"].get("instance_id") == manifest["instance_id"]:
                piles.get(read["value"]["kind"], []).append(read)
        for read in piles["key"]:
            public = unbase64(read["value"].get("public_key"))
            self.keys[sha(public).hex()] = public
        self.lives = []
        for read in sorted(piles["incarnation"], key=lambda each: -each["value"].get("incarnation", 0)):
            if read["value"]["tenant_id"] == self.chain and self.genuine(read):
                self.trusted.update(read["value"]["former_keys"])
                self.lives.append(read["value"])
        order = lambda each: (-each["value"]["signed_at"], -each["value"].get("n", 0))
        for read in sorted(piles["checkpoint"], key=order):
            self.judge(read)
        self.claims.sort(key=lambda claim: (claim["seq"], claim["signed_at"]))
        for read in piles["start"]:
            value = read["value"]
            if value["tenant_id"] != self.chain:
                continue
            if not self.genuine(read):
                self.worse(value["seq"])
            elif self.start is None or value["seq"] > self.start["seq"]:
                self.start = value

    def genuine(self, read):
        value = read["value"]
        if sha(read["line"]).hex() not in self.vouched:
            key = self.keys.get(value["key"]) if value["key"] in self.trusted else None
            if key is None or not signed(key, STATEMENT + canonical(value), read["signature"]):
                return False
        if value["kind"] == "checkpoint" and value["prev"]:
            self.vouched.add(value["prev"])
        return True

    def judge(self, read):
        value = read["value"]
        heads = [value] + value.get("chains", [])
        mine = next((head for head in heads if head["tenant_id"] == self.chain), None)
        if mine is None and value["tenant_id"] != SYSTEM:
            return
        if not self.genuine(read):
            return self.worse((mine or value)["seq"])
        if mine is None:
            return
        later = [life for life in self.lives if life["incarnation"] > value["incarnation"]]
        by = [life["incarnation"] for life in later if mine["seq"] > life["seq"]]
        for life in by:
            self.lost[life] = max(self.lost.get(life, 0), mine["seq"])
        if not by:
            self.claims.append({"seq": mine["seq"], "hash": mine["hash"], "signed_at": value["signed_at"], "key": value["key"]})

    def worse(self, seq):
        self.bad = seq if self.bad is None else min(self.bad, seq)


# --- The entries -------------------------------------------------------------------------------------------------
def personal_rows(bundle):
    for line in bundle.lines("personal.ndjson"):
        row = json.loads(line)
        yield row["seq"], sha(unhex(row["salt"]) + row["body"].encode("utf-8")).hex()
    while True:
        yield float("inf"), None


def walk(bundle, manifest, evidence, state):
    """Checks every entry against the one before; the first that is wrong ends it."""
    seq, previous = manifest["from_seq"], bytes.fromhex(manifest["previous_hash"])
    if seq == 1:
        previous = sha(GENESIS + f"{manifest['instance_id']}\0{manifest['tenant_id']}".encode("utf-8"))
    elif evidence.start and evidence.start["seq"] == seq - 1:
        previous = bytes.fromhex(evidence.start["hash"])
    claims = [claim for claim in evidence.claims if claim["seq"] >= seq]
    beside = personal_rows(bundle)
    personal_seq, personal = next(beside)
    for entry, stated in zip(bundle.lines("entries.ndjson"), bundle.lines("hashes.txt")):
        if seq > manifest["to_seq"]:
            break
        current = sha(ENTRY + previous + sha(entry))
        if current.hex() != stated.decode("ascii", "replace"):
            return {"seq": seq, "kind": kind_of(bundle, entry, seq)}
        while personal_seq < seq:
            personal_seq, personal = next(beside)
        at = entry.rindex(b'"pii_h":') + 8
        expected = entry[at + 1 : at + 65].decode("ascii") if entry[at : at + 1] == b'"' else None
        if personal_seq == seq and personal != expected:
            return {"seq": seq, "kind": "altered"}
        if personal_seq != seq and expected is not None:
            state["redacted"] += 1
        while claims and claims[0]["seq"] == seq:
            claim = claims.pop(0)
            if claim["hash"] != current.hex():
                state["against"] = True
                return {"seq": seq, "kind": "altered"}
            state["anchor"] = claim
        state["checked"] += 1
        previous, seq = current, seq + 1
    state["last"], state["last_hash"] = seq - 1, previous
    return {"seq": seq, "kind": "truncated"} if seq <= manifest["to_seq"] else None


def claimed_seq(entry):
    try:
        seq = json.loads(entry)["seq"]
        return seq if isinstance(seq, int) else None
    except (ValueError, KeyError, TypeError):
        return None


def kind_of(bundle, entry, seq):
    if claimed_seq(entry) in (None, seq):
        return "altered"
    there = any(claimed_seq(line) == seq for line in bundle.lines("entries.ndjson"))
    return "order" if there else "missing"


def verify(bundle, key, extra):
    manifest_bytes = bundle.read("manifest.json")
    manifest = json.loads(manifest_bytes)
    public = json.loads(bundle.read("public-key.json"))
    keys = {}
    for each in public["keys"] + [public]:
        raw = unbase64(each.get("public_key"))
        keys[sha(raw).hex()] = raw
    trusted = key or manifest["key"]
    problems = [f"{name['name']} is not what the manifest names" for name in manifest["files"] if bundle.digest(name["name"]) != name["sha256"]]
    signature = unbase64(bundle.read("manifest.sig").decode("utf-8", "replace").rstrip())
    if trusted != manifest["key"]:
        problems.append("the manifest is signed by another key than the one you named")
    elif trusted not in keys or not signed(keys[trusted], MANIFEST + manifest_bytes, signature):
        problems.append("the signature of the manifest is not genuine")
    lines = list(bundle.lines("checkpoints.ndjson")) + extra
    evidence = Evidence(manifest, trusted, keys, lines)
    state = {"checked": 0, "redacted": 0, "anchor": None, "against": False, "last": None, "last_hash": None}
    first, last, head = manifest["from_seq"], manifest["to_seq"], manifest["head"]
    found = [walk(bundle, manifest, evidence, state) if first <= last else None]
    whole = last >= head["seq"]
    there = first - 1 + min(sum(1 for _ in bundle.lines(name)) for name in ("entries.ndjson", "hashes.txt"))
    end = max(last, head["seq"]) if there >= last else there
    newest = evidence.claims[-1]["seq"] if evidence.claims else 0
    if whole and (newest > max(end, head["seq"]) or head["seq"] > end):
        found.append({"seq": end + 1, "kind": "truncated"})
    elif whole and state["last"] == head["seq"] and state["last_hash"].hex() != head["hash"]:
        found.append({"seq": head["seq"], "kind": "altered"})
    if evidence.bad is not None and first <= evidence.bad and (whole or evidence.bad <= last):
        found.append({"seq": evidence.bad, "kind": "bad_checkpoint"})
    bad = sorted((each for each in found if each), key=lambda each: each["seq"])
    return verdict(manifest, evidence, state, bad, problems, trusted)


def verdict(manifest, evidence, state, bad, problems, trusted):
    failed = lambda *kinds: any(each["kind"] in kinds for each in bad)
    anchor, last = state["anchor"], manifest["to_seq"]
    anchoring = "none" if anchor is None else "full" if anchor["seq"] == last else "partial"
    if state["against"] or failed("bad_checkpoint", "truncated"):
        anchoring = "failed"
    out = {
        "ok": not bad and not problems,
        "tenant_id": manifest["tenant_id"],
        "from_seq": manifest["from_seq"],
        "to_seq": last,
        "checked": state["checked"],
        "verdicts": {
            "integrity": "failed" if failed("altered", "order", "bad_checkpoint") else "ok",
            "completeness": "failed" if failed("missing", "truncated") else "restored" if evidence.lost else "ok",
            "anchoring": anchoring,
            "redaction": "redacted" if state["redacted"] else "none",
        },
        "redacted": state["redacted"],
        "checkpoint": anchor and {"seq": anchor["seq"], "key": anchor["key"]},
        "unanchored": last - (anchor["seq"] if anchor else manifest["from_seq"] - 1),
        "problems": problems,
        "key": trusted,
    }
    return {**out, "first_bad": bad[0]} if bad else out


def main(argv):
    options = {"--key": None, "--against": None}
    as_json, paths = False, []
    while argv:
        word = argv.pop(0)
        if word == "--json":
            as_json = True
        elif word in options and argv:
            options[word] = argv.pop(0)
        elif word.startswith("-") or paths:
            print(__doc__, file=sys.stderr)
            return 2
        else:
            paths.append(word)
    path = paths[0] if paths else os.path.dirname(os.path.abspath(__file__))
    extra = []
    if options["--against"]:
        with open(options["--against"], "rb") as file:
            extra = [line.strip() for line in file if line.strip()]
    try:
        result = verify(Bundle(path), options["--key"], extra)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile, EOFError) as error:
        print(f"{path} is not a bundle that can be read: {error!r}", file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps(result))
    else:
        print("The log is whole." if result["ok"] else "THE LOG IS NOT WHOLE.")
        for name, value in result["verdicts"].items():
            print(f"  {name:13} {value}")
        print(f"  entries       {result['from_seq']} to {result['to_seq']}, {result['checked']} checked, {result['unanchored']} not vouched for yet")
        print(f"  key           {result['key']}" + ("" if options["--key"] else "  (from the bundle: compare it with the one you know)"))
        for problem in result["problems"] + ([f"entry {result['first_bad']['seq']} is {result['first_bad']['kind']}"] if "first_bad" in result else []):
            print(f"  FOUND         {problem}")
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
