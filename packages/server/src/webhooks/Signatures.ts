import { Redacted } from "effect"
import { createHmac, randomBytes } from "node:crypto"

/** Secrets and signatures as Standard Webhooks has them. */

const prefix = "whsec_"

/** Their base64 has 44 characters, and no padding. */
const secretBytes = 33

/** Drawn until it has letters and digits alone: one that is pasted into a URL is one part of it, and logs leave it out whole. */
export const newSecret = (): Redacted.Redacted => {
  for (;;) {
    const text = randomBytes(secretBytes).toString("base64")
    if (/^[0-9A-Za-z]+$/.test(text)) return Redacted.make(prefix + text)
  }
}

/**
 * The header `webhook-signature`: what each of the secrets makes of the id, the time (in seconds) and the body.
 *
 * @param secrets The newest first.
 */
export const signatureOf = (
  secrets: ReadonlyArray<Redacted.Redacted>,
  { body, id, timestamp }: { readonly id: string; readonly timestamp: number; readonly body: string }
): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(Redacted.value(secret).slice(prefix.length), "base64")
      return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`
    })
    .join(" ")
