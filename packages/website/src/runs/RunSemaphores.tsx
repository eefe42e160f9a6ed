import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Section } from "../ui/Section.tsx"
import { Time } from "../ui/Time.tsx"
import { semaphoresQuery } from "./queries.ts"
import { SemaphoreUser } from "./SemaphoreUser.tsx"
import { usersOf } from "./semaphoreUsers.ts"

interface Props {
  readonly run: number
  readonly slug: string
}

/** What tests of a run hold now of what tests share, and what they wait for. */
export const RunSemaphores = ({ run, slug }: Props) => {
  const { data } = useQuery(semaphoresQuery(slug))
  const used = (data?.semaphores ?? []).flatMap((semaphore) => {
    const users = usersOf(semaphore, run)
    return users.length === 0 ? [] : [{ semaphore, users }]
  })
  if (used.length === 0) return null
  return (
    <Section
      actions={
        <Link className="text-muted hover:underline" params={{ slug }} to="/w/$slug/semaphores">
          All semaphores
        </Link>
      }
      isFlush
      title="Semaphores"
    >
      {used.map(({ semaphore: { capacity, name, queued }, users }) => (
        <div key={name}>
          <h3 className="bg-sunken border-border flex min-h-(--row) flex-wrap items-center gap-x-3 border-b px-4">
            <span className="foreign font-medium">{name}</span>
            <span className="text-muted tabular">
              capacity {capacity}
              {queued > 0 && `, ${queued} waiting in all`}
            </span>
          </h3>
          <ul aria-label={`What this run has of ${name}`}>
            {users.map(({ ends, lease, place, retry, since, test }) => (
              <SemaphoreUser
                key={lease}
                retry={retry}
                run={run}
                since={since}
                slug={slug}
                test={test}
                {...(place === undefined ? {} : { place })}
              >
                <span className="text-muted w-28 text-right max-md:hidden">
                  {ends === undefined ? (
                    "waits"
                  ) : (
                    <>
                      ends <Time at={ends} />
                    </>
                  )}
                </span>
              </SemaphoreUser>
            ))}
          </ul>
        </div>
      ))}
    </Section>
  )
}
