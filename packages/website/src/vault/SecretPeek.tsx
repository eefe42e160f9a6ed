import type { Secret } from "@delivery/domain/vault/Secret"
import { actorName } from "../api/actors.ts"
import { environmentOrder } from "../catalog/environmentOrder.ts"
import { EnvironmentName } from "../catalog/EnvironmentName.tsx"
import { Time } from "../ui/Time.tsx"
import { cellWords } from "./cellWords.ts"
import { cellState } from "./rows.ts"

/** A secret beside a list of secrets: what it is in each environment, and who wrote it last; no value. */
const SecretPeek = ({ secret }: { readonly secret: Secret }) => (
  <>
    <h2 className="foreign px-4 pt-3 pr-12 font-mono font-semibold break-all">{secret.name}</h2>
    <p className="text-muted foreign px-4 pb-3">{secret.product.name}</p>
    <ul aria-label="Environments" className="border-border border-t">
      {secret.environments
        .toSorted((a, b) => environmentOrder(a.environment, b.environment))
        .map((cell) => {
          const state = cellState(cell, secret)
          return (
            <li
              className="border-border flex min-h-(--row) flex-wrap items-center gap-x-4 border-b px-4 py-1"
              key={cell.environment.id}
            >
              <span className="w-36 min-w-0">
                <EnvironmentName environment={cell.environment} />
              </span>
              <span className={state === "missing" ? "text-warning" : "text-muted"}>
                {cellWords[state]}
                {cell.version > 0 && <span className="tabular"> v{cell.version}</span>}
              </span>
              {cell.updatedAt !== null && cell.updatedBy !== null && (
                <span className="text-muted foreign">
                  {actorName(cell.updatedBy)}, <Time at={cell.updatedAt} />
                </span>
              )}
            </li>
          )
        })}
    </ul>
  </>
)

export default SecretPeek
