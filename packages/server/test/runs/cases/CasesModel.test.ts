import { withServicesOnNewStorages } from "../../support/Storages.ts"
import { compareHistories } from "./CasesHistories.ts"

/** What random histories of runs come to is what a plain model computes from all runs. More of them: `CasesPlanted.test.ts`. */

withServicesOnNewStorages("Random histories of runs", (it, storage) => {
  it.effect("come to what a plain model computes", () => compareHistories(storage === "memory" ? 40 : 5))
})
