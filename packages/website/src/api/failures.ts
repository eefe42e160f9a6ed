import { toast } from "../ui/toast.ts"
import { confirmPath } from "./session.ts"

/** What a call of the API failed with, as far as every screen needs it. */
export interface Failure {
  readonly _tag: string
  readonly message: string
  readonly reason?: string
  readonly issues?: ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly message: string }>
  /** Of a `version_mismatch`: the versions that differ. */
  readonly current?: Readonly<Record<string, number>>
  readonly call?: { readonly status?: number; readonly requestId?: string }
}

/** Which call it was is for those who write programs. */
const inPlainWords = (failure: Failure): Failure =>
  failure._tag === "NoAnswer" ? { ...failure, message: "The server does not answer. Try again in a moment." } : failure

/** The failure, whatever was thrown: also what is none of the API's. */
export const failureOf = (thrown: unknown): Failure => {
  if (typeof thrown === "object" && thrown !== null && "_tag" in thrown && "message" in thrown) {
    return inPlainWords(thrown as Failure)
  }
  return { _tag: "Fault", message: thrown instanceof Error ? thrown.message : "This page has made a mistake." }
}

/** Whether the person is to prove again who they are first. */
export const isUnconfirmed = ({ reason }: Failure): boolean => reason === "sudo_required"

export const confirmText = "Confirm that it is you"

/** Says that something could not be done, in the server's words. That the session is over is said by a dialog, to people who have no key. */
export const tellFailure = (what: string, thrown: unknown): void => {
  const failure = failureOf(thrown)
  if (failure._tag === "Unauthorized") return
  const link = isUnconfirmed(failure) ? { href: confirmPath(), text: confirmText } : undefined
  toast({ title: what, detail: failure.message, tone: "danger", requestId: failure.call?.requestId, link })
}

/** The issues of a refusal at a field, by the start of its path. */
export const issueAt = (thrown: unknown, ...path: ReadonlyArray<string>): string | undefined =>
  failureOf(thrown).issues?.find((issue) => path.every((part, index) => issue.path[index] === part))?.message
