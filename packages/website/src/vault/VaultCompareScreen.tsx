import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { VaultSecrets } from "@delivery/domain/vault/Secret"
import { useMemo, useState } from "react"
import { client } from "../api/client.ts"
import { FailureView } from "../api/FailureView.tsx"
import { tellFailure } from "../api/failures.ts"
import { mayAct, useRole } from "../api/session.ts"
import { productsQuery } from "../catalog/queries.ts"
import { Badge, type Tone } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { withoutUndefined } from "../ui/address.ts"
import { Filter, pressedClass } from "../ui/Filter.tsx"
import { formatCount } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Rows } from "../ui/Rows.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import {
  compareEnvironments,
  type ComparedSecret,
  type Difference,
  differenceOf,
  differs,
  isSameValue
} from "./environments.ts"
import { inTurn } from "./inTurn.ts"
import { vaultQuery } from "./queries.ts"
import type { VaultCompareSearch } from "./search.ts"

/** Two environments of a product beside each other: what one lacks, and, where both may be read, whose values differ. */

const SecretPeek = later(() => import("./SecretPeek.tsx"))

const tones: Readonly<Record<Difference, Tone>> = {
  left: "warning",
  right: "warning",
  other: "info",
  same: "success",
  unknown: "plain",
  neither: "plain"
}

interface Names {
  readonly left: string
  readonly right: string
}

const wordsOf = (difference: Difference, { left, right }: Names): string =>
  ({
    left: `only in ${left}`,
    right: `only in ${right}`,
    other: "another value",
    same: "the same value",
    unknown: "both have a value",
    neither: "no value in either"
  })[difference]

const columns =
  "grid grid-cols-[minmax(0,1fr)_auto] md:grid-cols-[minmax(0,1fr)_14rem_9rem_9rem] items-center gap-3 px-4"

const versionText = (cell: ComparedSecret["left"]) =>
  cell === undefined || cell.version === 0 ? "–" : cell.hasValue ? `v${cell.version}` : `v${cell.version}, cleared`

interface RowProps {
  readonly difference: Difference
  readonly isCurrent: boolean
  readonly names: Names
  readonly one: ComparedSecret
  readonly slug: string
}

const Row = ({ difference, isCurrent, names, one, slug }: RowProps) => (
  <Link
    className={`${columns} border-border hover:bg-hover h-(--row) border-b ${isCurrent ? "bg-selected" : ""}`}
    params={{ slug, product: one.secret.product.slug, name: one.secret.name }}
    to="/w/$slug/products/$product/secrets/$name"
  >
    <span className="foreign truncate font-mono text-xs font-medium" title={one.secret.name}>
      {one.secret.name}
    </span>
    <span className="max-w-40 truncate md:max-w-none">
      <Badge tone={tones[difference]}>{wordsOf(difference, names)}</Badge>
    </span>
    <span className="text-muted tabular hidden truncate md:block">{versionText(one.left)}</span>
    <span className="text-muted tabular hidden truncate md:block">{versionText(one.right)}</span>
  </Link>
)

/** Which values are the same, by secret. The values themselves are dropped as soon as they were compared. */
const useSameValues = (slug: string, left: string, right: string) => {
  const [found, setFound] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [isBusy, setBusy] = useState(false)
  const compare = async (secrets: ReadonlyArray<ComparedSecret>) => {
    setBusy(true)
    try {
      const both = secrets.filter((one) => one.left?.hasValue === true && one.right?.hasValue === true)
      const answers = await inTurn(both, async ({ secret }) => {
        const params = { slug, productSlug: secret.product.slug, name: secret.name }
        return [
          secret.id,
          isSameValue(await client.vault.get({ params, query: { values: `${left},${right}` } }), left, right)
        ] as const
      })
      setFound(new Map(answers.flatMap(([id, isSame]) => (isSame === undefined ? [] : [[id, isSame] as const]))))
    } catch (error) {
      tellFailure("The values could not be compared.", error)
    } finally {
      setBusy(false)
    }
  }
  return { compare, found, isBusy }
}

type Environment = VaultSecrets["environments"][number]

interface BarProps {
  readonly count: number
  readonly left: Environment
  readonly right: Environment
  readonly isBusy: boolean
  readonly onToggle: () => void
  /** Undefined where values may not be read. */
  readonly onCompare: (() => void) | undefined
}

const CompareBar = ({ count, isBusy, left, onCompare, onToggle, right }: BarProps) => {
  const { only } = useSearch({ from: "/w/$slug/vault/compare" })
  const isProduction = left.class === "production" || right.class === "production"
  return (
    <>
      <div className="border-border flex flex-wrap items-center gap-2 border-b px-4 py-1.5">
        <button aria-pressed={only === "different"} className={pressedClass} onClick={onToggle} type="button">
          Only different <span className="tabular">{formatCount(count)}</span>
        </button>
        {onCompare !== undefined ? (
          <Button isBusy={isBusy} onClick={onCompare} shortcut="c">
            Compare the values
          </Button>
        ) : (
          <span className="text-muted">
            {isProduction ? "Nobody reads values of production" : "Your role does not read values"}: only whether each
            name has a value is compared.
          </span>
        )}
      </div>
      <div
        aria-hidden="true"
        className={`${columns} text-muted border-border h-(--row) border-b font-medium max-md:hidden`}
      >
        <span>Name</span>
        <span />
        <span className="truncate">{left.name}</span>
        <span className="truncate">{right.name}</span>
      </div>
    </>
  )
}

interface ListProps {
  readonly left: Environment
  readonly right: Environment
  readonly product: string
  readonly slug: string
  readonly vault: VaultSecrets
}

const Compared = ({ left, product, right, slug, vault }: ListProps) => {
  const { only } = useSearch({ from: "/w/$slug/vault/compare" })
  const navigate = useNavigate({ from: "/w/$slug/vault/compare" })
  const { compare, found, isBusy } = useSameValues(slug, left.slug, right.slug)
  const all = useMemo(
    () =>
      compareEnvironments(vault.secrets, product, left.slug, right.slug).map((one) => ({
        one,
        difference: differenceOf(one, found.get(one.secret.id))
      })),
    [found, left.slug, product, right.slug, vault.secrets]
  )
  const shown = only === "different" ? all.filter(({ difference }) => differs(difference)) : all
  const mayCompare = mayAct(useRole(slug), "member") && left.class !== "production" && right.class !== "production"
  const names = { left: left.name, right: right.name }
  const toggle = () =>
    void navigate({
      search: ({ only: before, ...rest }) => (before === "different" ? rest : { ...rest, only: "different" as const }),
      replace: true
    })
  useKeys([
    { keys: "d", label: "Only what differs", group: "Compare", run: toggle },
    ...(mayCompare
      ? [
          {
            keys: "c",
            label: "Compare the values",
            group: "Compare",
            run: () => void compare(all.map(({ one }) => one))
          }
        ]
      : [])
  ])
  return (
    <>
      <CompareBar
        count={all.filter(({ difference }) => differs(difference)).length}
        isBusy={isBusy}
        left={left}
        onCompare={mayCompare ? () => void compare(all.map(({ one }) => one)) : undefined}
        onToggle={toggle}
        right={right}
      />
      {shown.length === 0 ? (
        <Empty
          icon={all.length === 0 ? "vault" : "check"}
          title={all.length === 0 ? "This product has no secrets" : "Nothing differs"}
        />
      ) : (
        <Rows
          count={shown.length}
          keyOf={(index) => shown[index]!.one.secret.id}
          label="Secrets"
          noun="secret"
          onOpen={(index) => {
            const { product: of, name } = shown[index]!.one.secret
            void navigate({
              to: "/w/$slug/products/$product/secrets/$name",
              params: { slug, product: of.slug, name },
              search: {}
            })
          }}
          peek={(index) => <SecretPeek secret={shown[index]!.one.secret} />}
          row={(index, isCurrent) => <Row {...shown[index]!} isCurrent={isCurrent} names={names} slug={slug} />}
        />
      )}
    </>
  )
}

const VaultCompareScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/vault/compare" })
  const search = useSearch({ from: "/w/$slug/vault/compare" })
  const navigate = useNavigate({ from: "/w/$slug/vault/compare" })
  const { data: vault, error, refetch } = useQuery(vaultQuery(slug))
  const { data: products } = useQuery(productsQuery(slug))
  const product = search.product ?? vault?.secrets[0]?.product.slug
  // Those with the most values first: they are what is compared where nothing is said.
  const valuesIn = (slug: string) =>
    (vault?.secrets ?? []).filter(
      (one) =>
        one.product.slug === product && one.environments.some((cell) => cell.environment.slug === slug && cell.hasValue)
    ).length
  const environments = (vault?.environments ?? []).toSorted((a, b) => valuesIn(b.slug) - valuesIn(a.slug))
  const find = (wanted: string | undefined, isPreferred: (one: Environment) => boolean) =>
    environments.find((one) => one.slug === wanted) ?? environments.find(isPreferred)
  const right =
    find(search.right, (one) => one.class === "production" && one.slug !== search.left) ?? environments.at(-1)
  const left = find(search.left, (one) => one.slug !== right?.slug && one.class !== "production") ?? environments[0]
  const set = (change: { readonly [Name in keyof VaultCompareSearch]?: VaultCompareSearch[Name] | undefined }) =>
    void navigate({ search: (before) => withoutUndefined<VaultCompareSearch>({ ...before, ...change }), replace: true })
  const choices = environments.map((one) => ({ value: one.slug, label: one.name }))
  return (
    <>
      <Header
        crumbs={[{ label: "Vault", link: { to: "/w/$slug/vault", params: { slug } } }]}
        title="Compare environments"
      />
      <search
        aria-label="Environments"
        className="border-border flex flex-wrap items-center gap-1 border-b px-3 py-1.5"
      >
        <Filter
          choices={(products?.products ?? []).map((one) => ({ value: one.slug, label: one.name }))}
          isRequired
          noun="product"
          onChange={(next) => set({ product: next })}
          value={product}
        />
        <Filter
          choices={choices}
          isRequired
          noun="environment"
          onChange={(next) => set({ left: next })}
          value={left?.slug}
        />
        <span className="text-muted">with</span>
        <Filter
          choices={choices}
          isRequired
          noun="other"
          onChange={(next) => set({ right: next })}
          value={right?.slug}
        />
      </search>
      {vault === undefined ? (
        error === null ? (
          <SkeletonRows rows={10} />
        ) : (
          <FailureView error={error} onRetry={() => void refetch()} />
        )
      ) : product === undefined || left === undefined || right === undefined ? (
        <Empty icon="vault" title="There is no secret to compare yet" />
      ) : (
        <Compared
          key={`${left.slug} ${right.slug}`}
          left={left}
          product={product}
          right={right}
          slug={slug}
          vault={vault}
        />
      )}
    </>
  )
}

export default VaultCompareScreen
