import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { Loaded } from "../api/Loaded.tsx"
import { productsQuery } from "../catalog/queries.ts"
import { CasesTabs } from "../runs/CasesTabs.tsx"
import { Filter } from "../ui/Filter.tsx"
import { counted } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { useMarkedPlace } from "../ui/useMarkedPlace.ts"
import { later } from "../ui/later.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { askMutesIn } from "./askAgain.ts"
import { type MutedTest, mutedTests } from "./mute.ts"
import { mutesQuery } from "./queries.ts"

/** All tests that are muted, and for how long still: those of which that is over and nobody has looked after come first. */

const ExtendDialog = later(() => import("./ExtendDialog.tsx"))

const MutedList = later(
  () => import("./MutedList.tsx"),
  () => <SkeletonRows rows={8} />
)

interface Props {
  readonly slug: string
  readonly product?: string
}

const summaryOf = (tests: ReadonlyArray<MutedTest>): string => {
  const overdue = tests.filter(({ mute }) => mute.overdue).length
  const muted = tests.length - overdue
  return [
    ...(overdue > 0 ? [`${counted(overdue, "test")} overdue`] : []),
    ...(muted > 0 ? [`${counted(muted, "test")} muted`] : [])
  ].join(", ")
}

const MutedScreen = ({ product, slug }: Props) => {
  // Outside of the list, which may be empty by the time that it is extended.
  const [extended, setExtended] = useState<MutedTest["mute"]>()
  useMarkedPlace("/w/$slug/tests")
  const navigate = useNavigate()
  const query = useQuery({
    ...mutesQuery(slug, product),
    refetchInterval: ({ state }) => (state.data === undefined ? false : askMutesIn(state.data.mutes, Date.now())),
    refetchIntervalInBackground: true
  })
  const { data: products } = useQuery(productsQuery(slug))
  return (
    <>
      <Header crumbs={[]} title="Muted tests" />
      <CasesTabs slug={slug} target={product === undefined ? {} : { product }} />
      <search aria-label="Muted tests" className="border-border flex flex-wrap items-center gap-2 border-b px-3 py-1.5">
        <Filter
          choices={(products?.products ?? []).map((one) => ({ value: one.slug, label: one.name }))}
          noun="product"
          onChange={(next) =>
            void navigate({
              to: "/w/$slug/$",
              params: { slug, _splat: next === undefined ? "muted-tests" : `products/${next}/muted-tests` },
              replace: true
            })
          }
          value={product}
        />
        {query.data !== undefined && (
          <span className="text-muted" role="status">
            {summaryOf(mutedTests(query.data.mutes))}
          </span>
        )}
      </search>
      <Loaded query={query} rows={8}>
        {({ mutes }) =>
          mutes.length === 0 ? (
            <Empty icon="tests" title="No test is muted">
              A test that is known to fail is muted by a ticket, for 90 days at most: open the test or a run in which it
              failed, and press m.
            </Empty>
          ) : (
            <MutedList onExtend={setExtended} slug={slug} tests={mutedTests(mutes)} />
          )
        }
      </Loaded>
      {extended !== undefined && extended.ticket !== null && (
        <ExtendDialog
          mute={extended}
          onClose={() => setExtended(undefined)}
          slug={slug}
          ticket={extended.ticket.identifier}
        />
      )}
    </>
  )
}

export default MutedScreen
