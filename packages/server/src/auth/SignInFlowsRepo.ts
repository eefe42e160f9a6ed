import type { SignInPurpose } from "@delivery/domain/auth/SingleSignOn"
import type { SessionId, SignInFlowId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** Browsers on their way to a provider and back. A row is gone when its browser has come back. */
export const signInFlows = table("sign_in_flows", {
  id: uuid<SignInFlowId>(),
  stateHash: text(),
  /** Of the secret in the browser's cookie. */
  browserHash: text(),
  provider: text(),
  purpose: text<SignInPurpose>(),
  returnTo: text(),
  /** Whose session it is about; null where somebody signs in. */
  sessionId: nullable(uuid<SessionId>()),
  createdAt: instant(),
  expiresAt: instant()
})

export type SignInFlowRow = Row<typeof signInFlows>

/** What a browser shows when it comes back. */
export type ReturningBrowser = Pick<SignInFlowRow, "stateHash" | "browserHash" | "provider">

/** Stores sign-ins that are on their way. */
export class SignInFlowsRepo extends Context.Service<
  SignInFlowsRepo,
  {
    /** Stores the flow, and forgets those that have expired. */
    readonly insert: (flow: SignInFlowRow) => Effect.Effect<void>
    /** Uses a flow up: of those who try at once, one gets it. One of another browser or provider stays good. */
    readonly use: (browser: ReturningBrowser, now: Timestamp) => Effect.Effect<SignInFlowRow | undefined>
  }
>()("@delivery/server/auth/SignInFlowsRepo") {}
