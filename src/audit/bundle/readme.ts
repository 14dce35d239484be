/** What stands in the README of a bundle. */
export function readmeText(about: { instance_id: string; tenant_id: string; fingerprint: string }): string {
  return `Evidence of the audit log of ${about.tenant_id}
=====================================================

Written by Wardpost, installation ${about.instance_id}. It can be verified by anybody, without Wardpost and without trust
in whoever handed it over:

    python3 verify.py --key ${about.fingerprint}

(unpacked, in this folder; or python3 verify.py BUNDLE.zip), and the same by another program:

    wardpost audit verify BUNDLE.zip --key ${about.fingerprint}

Do not take the fingerprint from here: compare it with the one you noted before, or with a line that was sent to you.

entries.ndjson      One entry a line, oldest first, the exact bytes that were hashed.
hashes.txt          The hash of the chain after each entry.
personal.ndjson     Names, addresses and other personal values, with the salt of their hash. They can be erased without
                    breaking the chain; entries that had some and have none any more are counted as redacted.
checkpoints.ndjson  Signed statements of where the chain stood, one a line.
public-key.json     The key that signs, and those that signed before.
manifest.json       The range, where the chain stood, and the SHA-256 of each file. Signed in manifest.sig.
verify.py           Checks all of it. Read it: it is short, and it is the documentation of the format.

What the verdicts mean
----------------------
integrity     Every entry is what was hashed when it was written, each follows from the one before, and the chain is the
              one that was signed.
completeness  No entry is missing, and the log is no shorter than what was signed. "restored": a backup was restored, and
              entries that were signed before are not part of the log any more.
anchoring     How far signed checkpoints vouch for it: to its end ("full"), to an entry before ("partial"), not at all.
redaction     Whether personal values were erased.

What no verification can find
-----------------------------
Changes to entries after the newest checkpoint (a minute at most) by somebody who holds the database; and anything by
somebody who also holds the signing key, from the newest checkpoint on that was kept or sent elsewhere. What lies before
such a checkpoint cannot be changed unseen by anybody. Keep some:

    python3 verify.py --against FILE
`
}
