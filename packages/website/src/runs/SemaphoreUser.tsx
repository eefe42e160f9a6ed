import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { Elapsed } from "../ui/Elapsed.tsx"

interface UserProps {
  readonly slug: string
  readonly run: number | null
  readonly retry: number | null
  readonly test: string | null
  /** The place in the queue; a holder has none. */
  readonly place?: number
  readonly since: string
  readonly children?: ReactNode
}

/** The last words of a test's name: those by which the list of tests of a run finds it. */
const titleOf = (test: string): string => test.split(" › ").at(-1) ?? test

/** The file that it begins with: on narrow screens there is no room for it before the title. */
const fileOf = (test: string): string => /^\S*[./]\S* › /.exec(test)?.[0] ?? ""

/** Who holds a semaphore, or waits for it, and since when. */
export const SemaphoreUser = ({ children, place, retry, run, since, slug, test }: UserProps) => (
  <li className="border-border flex min-h-(--row) flex-wrap items-center gap-x-3 border-b py-1 pr-4 pl-4 sm:pl-8">
    <span className="text-muted tabular sm:w-16">{place === undefined ? "holds" : `${place}.`}</span>
    {run === null ? (
      <span className="text-muted w-28">unknown run</span>
    ) : (
      <Link
        className="tabular font-medium sm:w-28 hover:underline"
        params={{ slug, run: String(run) }}
        search={retry === null ? {} : { view: "retries" }}
        to="/w/$slug/test-runs/$run"
      >
        Run {run}
        {retry !== null && `, retry ${retry}`}
      </Link>
    )}
    {run !== null && test !== null ? (
      <Link
        className="foreign min-w-0 flex-1 truncate hover:underline max-sm:order-first max-sm:basis-full"
        params={{ slug, run: String(run) }}
        search={{ view: "tests", q: titleOf(test).slice(0, 200) }}
        title={test}
        to="/w/$slug/test-runs/$run"
      >
        <span className="max-sm:hidden">{fileOf(test)}</span>
        {test.slice(fileOf(test).length)}
      </Link>
    ) : (
      <span className="text-muted flex-1">no test was named</span>
    )}
    <span className="text-muted max-sm:ml-auto">
      for <Elapsed since={since} />
    </span>
    {children}
  </li>
)
