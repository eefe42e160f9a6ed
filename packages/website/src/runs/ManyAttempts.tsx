import type { Attempt } from "@delivery/domain/runs/TestEntry"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { tabClass, Tabs } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { StatusMark } from "../ui/StatusMark.tsx"
import { AttemptView } from "./AttemptView.tsx"

const nameOf = ({ number, retry }: Attempt): string =>
  retry === null ? `Attempt ${number}` : `Attempt ${number}, retry ${retry}`

interface Props {
  readonly attempts: ReadonlyArray<Attempt>
  readonly run: number
  readonly slug: string
}

const SideBySide = ({ attempts, ...at }: Props) => (
  <div
    aria-label="Attempts side by side"
    className="overflow-x-auto lg:grid lg:auto-cols-[minmax(22rem,1fr)] lg:grid-flow-col"
    role="region"
    tabIndex={0}
  >
    {attempts.map((one) => (
      <section
        aria-label={nameOf(one)}
        className="border-border min-w-0 not-last:border-b lg:not-last:border-r lg:not-last:border-b-0"
        key={one.number}
      >
        <h2 className="px-4 pt-3 font-medium">{nameOf(one)}</h2>
        <AttemptView attempt={one} {...at} />
      </section>
    ))}
  </div>
)

/** The attempts of a test: one, or all side by side. */
const ManyAttempts = ({ attempts, ...at }: Props) => {
  const search = useSearch({ from: "/w/$slug/test-runs/$run/tests/$case" })
  const navigate = useNavigate({ from: "/w/$slug/test-runs/$run/tests/$case" })
  const isAll = search.attempt === "all"
  const shown =
    attempts.find((one) => one.number === search.attempt) ??
    attempts.findLast((one) => one.status === "failed") ??
    attempts.at(-1)!
  useKeys([
    {
      keys: "b",
      label: "Attempts side by side, or one",
      group: "Test",
      run: () => void navigate({ search: isAll ? {} : { attempt: "all" }, replace: true })
    }
  ])
  const tab = {
    activeOptions: { exact: true },
    className: tabClass,
    from: "/w/$slug/test-runs/$run/tests/$case",
    to: "."
  } as const
  return (
    <>
      <Tabs label="Attempts">
        {attempts.map((one) => (
          <Link key={one.number} {...tab} replace search={!isAll && one === shown ? search : { attempt: one.number }}>
            <StatusMark size={14} status={one.status} />
            {nameOf(one)}
          </Link>
        ))}
        <Link {...tab} replace search={{ attempt: "all" }}>
          Side by side
        </Link>
      </Tabs>
      {isAll ? <SideBySide attempts={attempts} {...at} /> : <AttemptView attempt={shown} key={shown.number} {...at} />}
    </>
  )
}

export default ManyAttempts
