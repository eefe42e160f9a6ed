import type { TestRule } from "@delivery/domain/flow/TestRule"
import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { ruleRunsQuery } from "./queries.ts"
import { matchOf } from "./ruleMatch.ts"

/** That no run there was is one that a rule is for: what is misspelt would make no ticket for ever. */

interface Props {
  readonly slug: string
  readonly rule: Pick<TestRule, "product" | "environment" | "branch" | "coverage">
}

/** How long nobody types before it is asked. */
const typingMillis = 300

export const RuleMatches = ({ rule: { branch, coverage, environment, product }, slug }: Props) => {
  const [asked, setAsked] = useState(branch)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(branch), typingMillis)
    return () => clearTimeout(timer)
  }, [branch])
  const rule = { product, environment, branch: asked, coverage }
  const { data } = useQuery(ruleRunsQuery(slug, rule))
  const text = data === undefined ? undefined : matchOf(rule, data)
  return text === undefined ? null : (
    <p className="text-warning text-xs" role="status">
      {text}
    </p>
  )
}
