import { useQuery } from "@tanstack/react-query"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { pendingApprovalsQuery } from "../catalog/approvalsQuery.ts"

/** What others ask an admin to approve. */
export const useApprovals = (slug: string) => {
  const me = useMe()
  const { data } = useQuery({ ...pendingApprovalsQuery(slug), enabled: mayAct(useRole(slug), "admin") })
  return (data?.approvals ?? []).filter(({ requestedBy }) => requestedBy.kind !== "user" || requestedBy.id !== me?.id)
}
