import type { Case } from "@delivery/domain/runs/Case"
import { useState } from "react"
import { mayAct, useRole } from "../api/session.ts"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"

const CaseTicketDialog = later(() => import("./CaseTicketDialog.tsx"))

interface Props {
  readonly slug: string
  readonly product: string
  /** The test that the keyboard is at. */
  readonly one: Case
}

/** Makes a ticket of the test that the keyboard is at in the list. */
const CaseListTicket = ({ one, product, slug }: Props) => {
  const mayCreate = mayAct(useRole(slug), "member")
  const [asked, setAsked] = useState<Case>()
  useKeys(
    mayCreate && asked === undefined
      ? [
          {
            keys: "c",
            label: "Create a ticket about the test",
            group: "Test in focus",
            about: one.title.slice(0, 80),
            run: () => setAsked(one)
          }
        ]
      : []
  )
  return (
    asked !== undefined && (
      <CaseTicketDialog onClose={() => setAsked(undefined)} one={asked} product={product} slug={slug} />
    )
  )
}

export default CaseListTicket
