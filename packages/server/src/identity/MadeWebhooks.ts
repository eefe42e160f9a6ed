import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { memoryTable } from "../storage/MemoryStorage.ts"

/** Who made webhooks: some credentials, or in a workspace one of its members. */
export type WebhookMakers =
  | {
      readonly makers: ReadonlyArray<string>
      /** Somebody else had the credential: what they made is sent nothing any more. */
      readonly isReported?: boolean
    }
  | { readonly workspaceId: WorkspaceId; readonly member: PersonId }

/** Webhooks in the memory storage, as far as blocks of credentials know of them. Their room has the rest of their rows. */
export const madeWebhooks = memoryTable<{ readonly makerId: string | null }>("webhooks")

/** The webhooks that were made with credentials and by members. The webhooks supply it: such a webhook outlives its maker. */
export class MadeWebhooks extends Context.Service<
  MadeWebhooks,
  {
    /** Has the audit name what they made. Called in the transaction that ends them. */
    readonly makersEnded: (of: WebhookMakers, by: ActorRef) => Effect.Effect<void>
  }
>()("@delivery/server/identity/MadeWebhooks") {}
