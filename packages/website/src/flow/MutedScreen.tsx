import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { Loaded } from "../api/Loaded.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { productsQuery } from "../catalog/queries.ts"
import { CasesTabs } from "../runs/CasesTabs.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Filter } from "../ui/Filter.tsx"
import { counted, visible } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { useMarkedPlace } from "../ui/useMarkedPlace.ts"
import { later } from "../ui/later.tsx"
import { Rows } from "../ui/Rows.tsx"
import { Empty } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { Truncated } from "../ui/Truncated.tsx"
import { leftOf, type MutedTest, mutedTests } from "./mute.ts"
import { mutesQuery } from "./queries.ts"

/** All tests that are muted, and for how long still: those of which that is over and nobody has looked after come first. */

const ExtendDialog = later(() => import("./ExtendDialog.tsx"))

const columns =
  "grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 px-4 md:grid-cols-[minmax(0,1fr)_minmax(0,16rem)_9rem_6rem]"

interface Props {
  readonly slug: string
  readonly product?: string
}

interface RowProps {
  readonly isCurrent: boolean
  readonly one: MutedTest
  readonly slug: string
  readonly onExtend: (() => void) | undefined
}

const Row = ({ isCurrent, one: { caseId, mute }, onExtend, slug }: RowProps) => (
  <div className={`${columns} border-border hover:bg-hover h-(--row) border-b ${isCurrent ? "bg-selected" : ""}`}>
    <span className="flex min-w-0 items-center gap-2">
      {mute.overdue && (
        <Badge title="Its time has passed, and its ticket is still open" tone="warning">
          overdue
        </Badge>
      )}
      <Link
        className="foreign flex min-w-0 hover:underline"
        params={{ slug, product: mute.product, case: caseId }}
        to="/w/$slug/products/$product/cases/$case"
      >
        <Truncated text={visible(caseId)} />
      </Link>
    </span>
    <span className="text-muted hidden min-w-0 truncate md:block">
      {mute.ticket === null ? (
        "A ticket of a private team"
      ) : (
        <Link
          className="hover:underline"
          params={{ slug, ticket: mute.ticket.identifier }}
          to="/w/$slug/tickets/$ticket"
        >
          <span className="text-text tabular">{mute.ticket.identifier}</span>{" "}
          <span className="foreign">{visible(mute.ticket.title)}</span>
        </Link>
      )}
    </span>
    <span className={`tabular ${mute.overdue ? "text-warning" : "text-muted"}`}>
      {leftOf(mute, Date.now())}
      <span className="sr-only">
        , until <Time at={mute.until} />
      </span>
    </span>
    <span className="hidden text-right md:block">
      {onExtend !== undefined && mute.ticket !== null && (
        <Button
          aria-label={`${mute.overdue ? "Mute again" : "Extend"} ${visible(caseId)}`}
          look="quiet"
          onClick={onExtend}
        >
          {mute.overdue ? "Mute again…" : "Extend…"}
        </Button>
      )}
    </span>
  </div>
)

const List = ({ slug, tests }: { readonly slug: string; readonly tests: ReadonlyArray<MutedTest> }) => {
  const navigate = useNavigate()
  const mayMute = mayAct(useRole(slug), "member")
  const [extended, setExtended] = useState<MutedTest["mute"]>()
  return (
    <>
      <Rows
        count={tests.length}
        keyOf={(index) =>
          `${tests[index]!.mute.ticket?.identifier ?? ""} ${tests[index]!.mute.until} ${tests[index]!.caseId}`
        }
        label="Muted tests"
        noun="test"
        onOpen={(index) => {
          const { caseId, mute } = tests[index]!
          void navigate({
            to: "/w/$slug/products/$product/cases/$case",
            params: { slug, product: mute.product, case: caseId }
          })
        }}
        row={(index, isCurrent) => (
          <Row
            isCurrent={isCurrent}
            one={tests[index]!}
            onExtend={mayMute ? () => setExtended(tests[index]!.mute) : undefined}
            slug={slug}
          />
        )}
      />
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

const summaryOf = (tests: ReadonlyArray<MutedTest>): string => {
  const overdue = tests.filter(({ mute }) => mute.overdue).length
  const muted = tests.length - overdue
  return [
    ...(overdue > 0 ? [`${counted(overdue, "test")} overdue`] : []),
    ...(muted > 0 ? [`${counted(muted, "test")} muted`] : [])
  ].join(", ")
}

const MutedScreen = ({ product, slug }: Props) => {
  useMarkedPlace("/w/$slug/tests")
  const navigate = useNavigate()
  const query = useQuery(mutesQuery(slug, product))
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
            <List slug={slug} tests={mutedTests(mutes)} />
          )
        }
      </Loaded>
    </>
  )
}

export default MutedScreen
