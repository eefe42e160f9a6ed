import type { TestRule } from "@delivery/domain/flow/TestRule"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Loaded } from "../api/Loaded.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { CasesTabs } from "../runs/CasesTabs.tsx"
import { Button } from "../ui/Button.tsx"
import { Header } from "../ui/Header.tsx"
import { useMarkedPlace } from "../ui/useMarkedPlace.ts"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { testRulesQuery } from "./queries.ts"

/** The rules that make tickets of failing tests, as sentences. */

const TestRuleList = later(
  () => import("./TestRuleList.tsx"),
  () => <SkeletonRows rows={5} />
)
const TestRuleForm = later(() => import("./TestRuleForm.tsx"))

type Edited = { readonly rule?: TestRule } | undefined

const TestRulesScreen = ({ slug }: { readonly slug: string }) => {
  useMarkedPlace("/w/$slug/tests")
  const query = useQuery(testRulesQuery(slug))
  const mayChange = mayAct(useRole(slug), "member")
  const [edited, setEdited] = useState<Edited>()
  const add = () => setEdited({})
  useKeys(mayChange ? [{ keys: "c", label: "New test rule", group: "Test rules", run: add }] : [])
  const adding = (
    <Button icon="plus" look="primary" onClick={add} shortcut="c">
      New rule
    </Button>
  )
  return (
    <>
      <Header actions={mayChange && adding} crumbs={[]} title="Test rules" />
      <CasesTabs slug={slug} target={{}} />
      <Loaded query={query} rows={5}>
        {({ testRules }) =>
          testRules.length === 0 ? (
            <Empty icon="tests" title="A rule makes tickets of tests that fail">
              It gives each to its owner, who may be an agent, tells it when the test fails again, and completes it once
              the test passes. {mayChange ? "" : "Members of the workspace make rules."}
            </Empty>
          ) : (
            <TestRuleList
              mayChange={mayChange}
              onChange={(rule) => setEdited({ rule })}
              slug={slug}
              testRules={testRules}
            />
          )
        }
      </Loaded>
      {edited !== undefined && <TestRuleForm {...edited} onClose={() => setEdited(undefined)} slug={slug} />}
    </>
  )
}

export default TestRulesScreen
