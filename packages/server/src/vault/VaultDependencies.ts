import type { Audit } from "../audit/Audit.ts"
import type { WriteApprovals } from "../catalog/WriteApprovals.ts"
import type { Events } from "../events/Events.ts"
import type { NextId } from "../ids/NextId.ts"
import type { Storage } from "../storage/Storage.ts"
import type { DataKeys } from "./DataKeys.ts"
import type { VaultRepo } from "./VaultRepo.ts"

/** What the operations of the vault need. `Vault.ts` gathers it. */
export interface VaultDependencies {
  readonly repo: VaultRepo["Service"]
  readonly storage: Storage["Service"]
  readonly dataKeys: DataKeys["Service"]
  readonly events: Events["Service"]
  readonly audit: Audit["Service"]
  readonly approvals: WriteApprovals["Service"]
  readonly nextId: NextId["Service"]
}
