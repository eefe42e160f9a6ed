import type { Webhook, WebhookAttempt } from "@delivery/domain/webhooks/Webhook"
import { counted, formatDuration } from "../ui/format.ts"

/** Webhooks in words. Pure. */

/** Whether so few kinds are sent that a line can name them all. */
export const areNamed = (kinds: ReadonlyArray<string>): boolean => kinds.length <= 3

/** Which events a webhook is sent. */
export const kindsText = ({ kinds, team }: Pick<Webhook, "kinds" | "team">): string => {
  const what = kinds === null ? "all events" : areNamed(kinds) ? kinds.join(", ") : counted(kinds.length, "kind")
  return team === null ? what : `${what} of ${team.name}`
}

/** Kinds as they are typed: one a line, or between commas. */
export const kindsOf = (text: string): ReadonlyArray<string> => [
  ...new Set(text.split(/[\s,]+/).filter((one) => one !== ""))
]

const errors: Readonly<Record<string, string>> = {
  private_address: "its host has a private address",
  not_https: "it is not https",
  unknown_host: "its host is unknown",
  connection_failed: "no connection",
  invalid_answer: "what came was no answer",
  timeout: "no answer in time"
}

/** What a try came to: `204 in 87 ms`. */
export const attemptText = ({ durationMs, error, status }: WebhookAttempt): string =>
  `${status ?? errors[error ?? ""] ?? error ?? "no answer"} in ${formatDuration(durationMs)}`

/** The host of an address, which may be shown; the rest may be a secret. */
export const hostOf = (url: string): string => {
  try {
    return new URL(url).host
  } catch {
    return url
  }
}
