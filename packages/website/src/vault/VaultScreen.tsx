import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { VaultSecrets } from "@delivery/domain/vault/Secret"
import { useMemo, useRef, useState } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { environmentOrder } from "../catalog/environmentOrder.ts"
import { mayAct, useRole } from "../api/session.ts"
import { environmentsQuery, productsQuery } from "../catalog/queries.ts"
import { Filter, pressedClass } from "../ui/Filter.tsx"
import { formatCount } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { SearchField } from "../ui/SearchField.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { type Drafts, type Place, withDraft } from "./drafts.ts"
import { vaultQuery } from "./queries.ts"
import { environmentsOf, shownSecrets } from "./rows.ts"
import { placeInFocus } from "./preferred.ts"
import type { VaultSearch } from "./search.ts"
import { VaultActions } from "./VaultActions.tsx"
import { type Batch, VaultGrid } from "./VaultGrid.tsx"
import type { Overlay } from "./VaultOverlay.tsx"

/** Secrets of all products: which is where, which is missing, and who wrote it when. Values show one at a time. */

const BatchBar = later(() => import("./BatchBar.tsx"))
const NoSecrets = later(() => import("./NoSecrets.tsx"))
const VaultOverlay = later(() => import("./VaultOverlay.tsx"))

const Filters = ({ missing, slug }: { readonly missing: number; readonly slug: string }) => {
  const search = useSearch({ from: "/w/$slug/vault" })
  const navigate = useNavigate({ from: "/w/$slug/vault" })
  const { data: products } = useQuery(productsQuery(slug))
  const field = useRef<HTMLInputElement>(null)
  useKeys([{ keys: "/", label: "Search names", group: "Vault", run: () => field.current?.focus() }])
  const set = (next: VaultSearch) => void navigate({ search: next, replace: true })
  const { product, ...others } = search
  const { q: _, ...withoutText } = search
  const { only, ...withoutOnly } = search
  return (
    <search aria-label="Secrets" className="border-border flex flex-wrap items-center gap-1 border-b px-3 py-1.5">
      <SearchField
        label="Name"
        onChange={(text) => set({ ...withoutText, ...(text === "" ? {} : { q: text }) })}
        ref={field}
        value={search.q ?? ""}
      />
      <Filter
        choices={(products?.products ?? []).map((one) => ({ value: one.slug, label: one.name }))}
        noun="product"
        onChange={(next) => set({ ...others, ...(next === undefined ? {} : { product: next }) })}
        value={product}
      />
      <button
        aria-pressed={only === "missing"}
        className={`${pressedClass} font-medium`}
        onClick={() => set(only === "missing" ? withoutOnly : { ...withoutOnly, only: "missing" })}
        type="button"
      >
        Missing somewhere <span className="tabular text-warning">{formatCount(missing)}</span>
      </button>
    </search>
  )
}

interface LoadedProps {
  readonly vault: VaultSecrets
  readonly slug: string
  readonly onOpen: (place: Place) => void
  readonly batch: Batch | undefined
}

const Loaded = ({ batch, onOpen, slug, vault }: LoadedProps) => {
  const search = useSearch({ from: "/w/$slug/vault" })
  const { data: catalog } = useQuery(environmentsQuery(slug))
  const secrets = useMemo(() => shownSecrets(vault.secrets, search), [search, vault.secrets])
  if (vault.secrets.length === 0) {
    return <NoSecrets slug={slug} />
  }
  // The short form of an environment does not say whether it needs approvals.
  const whole = new Map(catalog?.environments.map((one) => [one.id, one]))
  const ofProducts = new Set(secrets.map((one) => one.product.id))
  return (
    <>
      <Filters missing={shownSecrets(vault.secrets, { ...search, only: "missing" }).length} slug={slug} />
      {secrets.length === 0 ? (
        <Empty icon="filter" title="No secret matches" />
      ) : (
        <VaultGrid
          batch={batch}
          environments={environmentsOf(vault.environments, vault.secrets, search.product)
            .toSorted(environmentOrder)
            .map((one) => whole.get(one.id) ?? one)}
          isProductShown={ofProducts.size > 1}
          onOpen={onOpen}
          secrets={secrets}
          slug={slug}
        />
      )}
    </>
  )
}

const VaultScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/vault" })
  const { product } = useSearch({ from: "/w/$slug/vault" })
  const { data: vault, error, refetch } = useQuery(vaultQuery(slug))
  const [overlay, setOverlay] = useState<Overlay>()
  const [drafts, setDrafts] = useState<Drafts>()
  const mayWrite = mayAct(useRole(slug), "member")
  return (
    <div className="flex h-full min-h-90 flex-col">
      <Header
        actions={
          <VaultActions
            mayWrite={mayWrite}
            onAdd={() => setOverlay({ kind: "add", from: placeInFocus() })}
            onBatch={() => setDrafts(drafts ?? new Map())}
            onPaste={() => setOverlay({ kind: "paste", from: placeInFocus() })}
            slug={slug}
          />
        }
        crumbs={[]}
        title="Vault"
      />
      {vault !== undefined ? (
        <Loaded
          batch={
            drafts === undefined
              ? undefined
              : {
                  drafts,
                  onDraft: (place, value) => setDrafts((before = new Map()) => withDraft(before, place, value))
                }
          }
          onOpen={(place) => setOverlay({ kind: "cell", place })}
          slug={slug}
          vault={vault}
        />
      ) : error !== null ? (
        <FailureView error={error} onRetry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={12} />
      )}
      {drafts !== undefined && (
        <BatchBar drafts={drafts} onClose={() => setDrafts(undefined)} onDrafts={setDrafts} slug={slug} />
      )}
      {overlay !== undefined && (
        <VaultOverlay
          onClose={() => setOverlay(undefined)}
          overlay={overlay}
          product={product}
          slug={slug}
          vault={vault}
        />
      )}
    </div>
  )
}

export default VaultScreen
