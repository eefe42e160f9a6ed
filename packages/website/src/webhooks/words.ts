import type { Webhook, WebhookAttempt } from "@delivery/domain/webhooks/Webhook"
import { formatDuration } from "../ui/duration.ts"
import { counted } from "../ui/format.ts"

/** Webhooks in words. Pure. */

/** Whether so few kinds are sent that a line can name them all. */
export const areNamed = (kinds: ReadonlyArray<string>): boolean => kinds.length <= 3

/** A kind of events as people say it: "Run finished". */
export const kindText = (kind: string): string => `${kind.charAt(0).toUpperCase()}${kind.slice(1).replaceAll("_", " ")}`

/** Which events a webhook is sent. */
export const kindsText = ({ kinds, team }: Pick<Webhook, "kinds" | "team">): string => {
  const what =
    kinds === null ? "all events" : areNamed(kinds) ? kinds.map(kindText).join(", ") : counted(kinds.length, "kind")
  return team === null ? what : `${what} of ${team.name}`
}

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

/** As long as a name in an address may be that is not taken for a secret. */
const longestName = 12

/** What tells the address apart from others of its host: its last name, or where that may be a secret, how it ends. */
const endOf = (url: string): string => {
  const last =
    URL.parse(url)
      ?.pathname.split("/")
      .findLast((part) => part !== "") ?? ""
  return last === "" ? "/" : last.length <= longestName ? `…/${last}` : `…${last.slice(-4)}`
}

/** The host of an address, and how the address ends where others of `urls` have the same host. */
export const addressOf = (url: string, urls: ReadonlyArray<string>): string =>
  urls.filter((one) => hostOf(one) === hostOf(url)).length > 1 ? `${hostOf(url)} ${endOf(url)}` : hostOf(url)

/** The host of an address, which may be shown; the rest may be a secret. */
export const hostOf = (url: string): string => {
  try {
    return new URL(url).host
  } catch {
    return url
  }
}
