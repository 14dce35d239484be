/**
 * How a receiver checks a signature, per language. Each compares in constant time, over the raw bytes of the body,
 * and refuses what is older than five minutes. The key is the text of the secret, `whsec_` included.
 */
export interface Snippet {
  id: string
  label: string
  code: string
}

export const SNIPPETS: readonly Snippet[] = [
  {
    id: 'javascript',
    label: 'JavaScript',
    code: `import { createHmac, timingSafeEqual } from 'node:crypto'

// body: the raw bytes, before any JSON parser.
export function isFromWardpost(headers, body, secret, now = Date.now() / 1000) {
  const time = headers['x-service-signature-timestamp'] ?? ''
  const given = Buffer.from(headers['x-service-signature'] ?? '', 'hex')
  if (!/^\\d+$/.test(time) || Math.abs(now - Number(time)) > 300) return false
  const right = createHmac('sha256', secret).update(time + '.').update(body).digest()
  return given.length === right.length && timingSafeEqual(given, right)
}
`,
  },
  {
    id: 'python',
    label: 'Python',
    code: `import hashlib
import hmac
import time


# body: the raw bytes, before any JSON parser. headers: names in lower case.
def is_from_wardpost(headers, body, secret, now=None):
    sent = headers.get("x-service-signature-timestamp", "")
    given = headers.get("x-service-signature", "")
    if not sent.isdigit() or abs((now or time.time()) - int(sent)) > 300:
        return False
    right = hmac.new(secret.encode(), sent.encode() + b"." + body, hashlib.sha256)
    return hmac.compare_digest(given.encode(), right.hexdigest().encode())
`,
  },
  {
    id: 'go',
    label: 'Go',
    code: `package receiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// body: the raw bytes, before any JSON parser.
func IsFromWardpost(h http.Header, body []byte, secret string) bool {
	sent := h.Get("X-Service-Signature-Timestamp")
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	given, err := hex.DecodeString(h.Get("X-Service-Signature"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(sent + "."))
	mac.Write(body)
	return hmac.Equal(given, mac.Sum(nil))
}
`,
  },
  {
    id: 'php',
    label: 'PHP',
    code: `<?php
// $body: file_get_contents('php://input'), before any JSON parser.
function is_from_wardpost(array $server, string $body, string $secret): bool {
    $sent = $server['HTTP_X_SERVICE_SIGNATURE_TIMESTAMP'] ?? '';
    $given = $server['HTTP_X_SERVICE_SIGNATURE'] ?? '';
    if (!ctype_digit($sent) || abs(time() - (int) $sent) > 300) {
        return false;
    }
    return hash_equals(hash_hmac('sha256', $sent . '.' . $body, $secret), $given);
}
`,
  },
]
