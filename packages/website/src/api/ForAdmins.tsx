import type { ReactNode } from "react"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { mayAct, useRole } from "./session.ts"

interface Props {
  readonly slug: string
  /** What is shown to them, as the start of a sentence: "The audit is". */
  readonly subject: string
  readonly children: ReactNode
}

/** What admins and owners alone see. Others are told so, and nothing is asked for that would be refused. */
export const ForAdmins = ({ children, slug, subject }: Props) => {
  const role = useRole(slug)
  if (role === undefined) return <SkeletonRows rows={6} />
  if (mayAct(role, "admin")) return children
  return (
    <Empty icon="lock" title={`${subject} for admins`}>
      Your role here is {role}. An admin or owner of the workspace can change that, or do it for you.
    </Empty>
  )
}
