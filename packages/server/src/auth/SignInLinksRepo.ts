import type { PersonId, SignInLinkId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, type Row, table, text, uuid } from "../storage/Table.ts"

/** Links by which a person signs in. A row is gone when its link was used. */
export const signInLinks = table("sign_in_links", {
  id: uuid<SignInLinkId>(),
  personId: uuid<PersonId>(),
  tokenHash: text(),
  createdAt: instant(),
  expiresAt: instant()
})

export type SignInLinkRow = Row<typeof signInLinks>

/** Stores sign-in links. */
export class SignInLinksRepo extends Context.Service<
  SignInLinksRepo,
  {
    /** Stores the link, and forgets those that have expired. */
    readonly insert: (link: SignInLinkRow) => Effect.Effect<void>
    /** Uses a link up: of those who try at once, one gets its person. With `only`, a link of somebody else stays good. */
    readonly use: (tokenHash: string, now: Timestamp, only?: PersonId) => Effect.Effect<PersonId | undefined>
  }
>()("@delivery/server/auth/SignInLinksRepo") {}
