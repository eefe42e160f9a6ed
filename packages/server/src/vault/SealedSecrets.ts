import type { WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"

/** A secret that another room has sealed by `ValueCipher.seal`. */
export interface SealedSecret {
  /** What finds it again, in the order in which they are listed. */
  readonly place: string
  readonly workspaceId: WorkspaceId
  readonly purpose: string
  readonly sealed: Uint8Array
}

/** The secrets that other rooms keep sealed under data keys: they are sealed anew when a data key is replaced. */
export class SealedSecrets extends Context.Service<
  SealedSecrets,
  {
    /** Those after a place. */
    readonly list: (after: string, limit: number) => Effect.Effect<ReadonlyArray<SealedSecret>>
    /** Stores what a secret was sealed to, where it still is what was listed; whether it was. */
    readonly replace: (secret: SealedSecret, sealed: Uint8Array) => Effect.Effect<boolean>
  }
>()("@delivery/server/vault/SealedSecrets") {}
