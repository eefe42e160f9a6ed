import { useQuery } from "@tanstack/react-query"
import type { Readiness } from "@delivery/domain/flow/Readiness"
import { useEffect, useState } from "react"
import { shortSha } from "../ui/format.ts"
import { readinessQuery } from "./readiness.ts"
import { told } from "./reasons.ts"

interface Props {
  readonly slug: string
  readonly product: string
  readonly environment: string
  readonly version: string
  /** What is known of it already. */
  readonly known: Readiness | undefined
}

/** How long nobody types before it is asked. */
const typingMillis = 300

/** Before a version is set: what would keep it back. It may be set all the same. */
const VersionWarning = ({ environment, known, product, slug, version }: Props) => {
  const [asked, setAsked] = useState(version)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(version), typingMillis)
    return () => clearTimeout(timer)
  }, [version])
  const { data: answer } = useQuery({ ...readinessQuery(slug, product, environment, asked), staleTime: 30_000 })
  const data = known ?? answer
  if (data?.version == null || (data.version !== version && asked !== version)) return null
  const blocks = data.reasons.filter(({ severity }) => severity === "block")
  // A short id is answered for the version that begins with it. Who insists on the id sets one that is none.
  const isUnknown = data.version !== version || data.reasons.some(({ kind }) => kind === "version_unknown")
  if (blocks.length === 0 && !isUnknown) return null
  return (
    <div className="bg-warning-soft text-warning mt-3 flex flex-col gap-2 rounded-md px-3 py-2" role="status">
      {isUnknown && (
        <p className="foreign break-words">
          Nobody has released or tested {shortSha(version)}. Look whether it is written right: a release cannot be taken
          back.
        </p>
      )}
      {blocks.length > 0 && (
        <div>
          <p className="font-medium">By its policy this version is not ready:</p>
          <ul className="list-disc pl-5">
            {blocks.slice(0, 5).map(({ kind, message, subject }) => (
              <li className="foreign break-words" key={`${kind} ${subject?.id ?? message}`}>
                {told(message, version)}
              </li>
            ))}
          </ul>
          {blocks.length > 5 && <p>and {blocks.length - 5} more</p>}
        </div>
      )}
    </div>
  )
}

export default VersionWarning
