import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import type { Secret, SecretEnvironment } from "@delivery/domain/vault/Secret"
import { useState } from "react"
import { actorName } from "../api/actors.ts"
import { FailureView } from "../api/FailureView.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { environmentOrder } from "../catalog/environmentOrder.ts"
import { useEnvironmentName } from "../catalog/useEnvironmentName.ts"
import { EnvironmentName } from "../catalog/EnvironmentName.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Header } from "../ui/Header.tsx"
import { later } from "../ui/later.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { cellWords } from "./cellWords.ts"
import { secretAuditQuery, vaultQuery } from "./queries.ts"
import { cellState } from "./rows.ts"

/** One secret: what it is in each environment. */

const CellDialog = later(() => import("./CellDialog.tsx"))

const did: Readonly<Record<string, string>> = {
  secret_read: "read",
  secrets_loaded: "loaded",
  secret_created: "added",
  secret_changed: "wrote",
  secret_renamed: "renamed",
  secret_deleted: "deleted"
}

/** Who read and wrote it, newest first: for admins. */
const Audit = ({ secret, slug }: { readonly secret: Secret; readonly slug: string }) => {
  const { data, error, refetch } = useQuery(secretAuditQuery(slug, secret.id))
  const nameOf = useEnvironmentName(slug)
  const namesOf = (environments: ReadonlyArray<string>) => environments.map(nameOf).join(", ")
  return (
    <section aria-label="Who read and wrote it">
      <h2 className="text-muted border-border border-b px-4 pt-5 pb-1 text-xs font-medium">Who read and wrote it</h2>
      {data !== undefined ? (
        <ol>
          {data.entries.map((entry) => (
            <li
              className="border-border flex min-h-(--row) flex-wrap items-center gap-x-3 border-b px-4"
              key={entry.id}
            >
              <span className="foreign min-w-0 truncate font-medium">{actorName(entry.actor)}</span>
              <span className="text-muted">{did[entry.action] ?? entry.action}</span>
              <span className="foreign min-w-0 flex-1 truncate">
                {"environments" in entry && entry.environments != null && namesOf(entry.environments)}
              </span>
              {entry.outcome === "refused" && <Badge tone="danger">refused</Badge>}
              <span className="text-muted font-mono text-xs max-sm:hidden">{entry.address}</span>
              <span className="text-muted">
                <Time at={entry.at} />
              </span>
            </li>
          ))}
        </ol>
      ) : error !== null ? (
        <FailureView error={error} onRetry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={4} />
      )}
    </section>
  )
}

const SecretScreen = () => {
  const { name, product, slug } = useParams({ from: "/w/$slug/products/$product/secrets/$name" })
  const { data, error, refetch } = useQuery(vaultQuery(slug))
  const role = useRole(slug)
  const [open, setOpen] = useState<SecretEnvironment>()
  const secret = data?.secrets.find((one) => one.name === name && one.product.slug === product)
  const cells = secret?.environments.toSorted((a, b) => environmentOrder(a.environment, b.environment)) ?? []
  return (
    <>
      <Header
        crumbs={[
          { label: "Vault", link: { to: "/w/$slug/vault", params: { slug } } },
          {
            label: secret?.product.name ?? product,
            link: { to: "/w/$slug/vault", params: { slug }, search: { product } }
          }
        ]}
        title={<span className="font-mono">{name}</span>}
      />
      {secret !== undefined ? (
        <>
          <ul aria-label="Environments">
            {cells.map((cell) => (
              <li key={cell.environment.id}>
                <button
                  className="hover:bg-hover border-border flex min-h-(--row) w-full flex-wrap items-center gap-x-4 border-b px-4 py-1 text-left"
                  onClick={() => setOpen(cell)}
                  type="button"
                >
                  <span className="w-40 min-w-0">
                    <EnvironmentName environment={cell.environment} />
                  </span>
                  <span className={cellState(cell, secret) === "missing" ? "text-warning" : "text-muted"}>
                    {cellWords[cellState(cell, secret)]}
                  </span>
                  {cell.version > 0 && <span className="text-muted tabular">v{cell.version}</span>}
                  {cell.updatedAt !== null && cell.updatedBy !== null && (
                    <span className="text-muted ml-auto">
                      {actorName(cell.updatedBy)}, <Time at={cell.updatedAt} />
                    </span>
                  )}
                </button>
              </li>
            ))}
          </ul>
          {mayAct(role, "admin") && <Audit secret={secret} slug={slug} />}
        </>
      ) : data !== undefined ? (
        <Empty icon="vault" title="The product has no secret of this name">
          It may have been renamed or deleted.
        </Empty>
      ) : error !== null ? (
        <FailureView error={error} onRetry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={4} />
      )}
      {open !== undefined && secret !== undefined && (
        <CellDialog cell={open} onClose={() => setOpen(undefined)} secret={secret} slug={slug} />
      )}
    </>
  )
}

export default SecretScreen
