import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import type { Semaphore, SemaphoreHour } from "@delivery/domain/runs/Semaphore"
import { useState } from "react"
import { Loaded } from "../api/Loaded.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { counted, formatCount } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { Empty } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { semaphoresQuery, semaphoreUsageQuery } from "./queries.ts"
import { SemaphoreDay } from "./SemaphoreDay.tsx"
import { SemaphoreUser as User } from "./SemaphoreUser.tsx"

/** What tests share: who holds it, who waits for it, and since when. */

/** How much of it is in use: a shape, and the same in words. */
const Use = ({ semaphore: { capacity, holders } }: { readonly semaphore: Semaphore }) => (
  <span className="text-muted inline-flex items-center gap-2">
    {capacity <= 10 && (
      <span aria-hidden="true" className="inline-flex gap-0.5">
        {Array.from({ length: capacity }, (_, slot) => (
          <span
            className={`border-strong size-2.5 rounded-sm border ${slot < holders.length ? "bg-accent-fill border-transparent" : ""}`}
            key={slot}
          />
        ))}
      </span>
    )}
    <span className="tabular">
      {formatCount(holders.length)} of {formatCount(capacity)} held
    </span>
  </span>
)

interface OneProps {
  readonly semaphore: Semaphore
  readonly slug: string
  /** Undefined while it is loaded. */
  readonly hours: ReadonlyArray<SemaphoreHour> | undefined
  readonly isTable: boolean
}

const One = ({ hours, isTable, semaphore, slug }: OneProps) => {
  const { holders, name, queued, waiting } = semaphore
  return (
    <section aria-label={name}>
      <div className="bg-sunken border-border flex min-h-9 flex-wrap items-center gap-x-4 gap-y-1 border-b px-4 py-1">
        <h2 className="foreign min-w-0 font-medium">{name}</h2>
        <Use semaphore={semaphore} />
        {queued > 0 && <Badge tone="warning">{`${formatCount(queued)} waiting`}</Badge>}
        {holders.length === 0 && <span className="text-muted">free</span>}
      </div>
      {hours !== undefined && (
        <SemaphoreDay capacity={semaphore.capacity} hours={hours} isTable={isTable} name={name} />
      )}
      {holders.length > 0 && (
        <ul aria-label={`Holders of ${name}`}>
          {holders.map((holder) => (
            <User
              key={holder.lease}
              retry={holder.retry}
              run={holder.run}
              since={holder.since}
              slug={slug}
              test={holder.test}
            >
              <span className="text-muted w-28 text-right max-md:hidden">
                ends <Time at={holder.expiresAt} />
              </span>
            </User>
          ))}
        </ul>
      )}
      {waiting.length > 0 && (
        <ol aria-label={`Queue of ${name}`}>
          {waiting.map((place, index) => (
            <User
              key={place.lease}
              place={index + 1}
              retry={place.retry}
              run={place.run}
              since={place.since}
              slug={slug}
              test={place.test}
            >
              <span className="text-muted w-28 text-right max-md:hidden">waits</span>
            </User>
          ))}
        </ol>
      )}
      {queued > waiting.length && (
        <p className="text-muted border-border border-b py-2 pl-8">
          and {counted(queued - waiting.length, "more place")} in the queue
        </p>
      )}
    </section>
  )
}

const SemaphoresScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/semaphores" })
  const [isTable, setIsTable] = useState(false)
  const usage = useQuery(semaphoreUsageQuery(slug)).data?.semaphores
  const toggle = () => setIsTable(!isTable)
  useKeys([{ keys: "t", label: "Use over the day as bars or a table", group: "Semaphores", run: toggle }])
  return (
    <>
      <Header
        actions={
          usage !== undefined &&
          usage.length > 0 && (
            <Button look="quiet" onClick={toggle} shortcut="t">
              {isTable ? "As bars" : "As a table"}
            </Button>
          )
        }
        crumbs={[]}
        title="Semaphores"
      />
      <Loaded query={useQuery(semaphoresQuery(slug))} rows={6}>
        {({ semaphores }) =>
          semaphores.length === 0 ? (
            <Empty
              command={'test.use({ semaphore: { name: "payment-sandbox", capacity: 2 } })'}
              icon="semaphores"
              title="A semaphore limits how many tests use something at once, across all runs"
            >
              Tests with the fixtures of @delivery/playwright take one like this. The first that does makes it.
            </Empty>
          ) : (
            semaphores.map((semaphore) => (
              <One
                hours={usage?.find(({ name }) => name === semaphore.name)?.hours}
                isTable={isTable}
                key={semaphore.name}
                semaphore={semaphore}
                slug={slug}
              />
            ))
          )
        }
      </Loaded>
    </>
  )
}

export default SemaphoresScreen
