import type { Case } from "@delivery/domain/runs/Case"
import { useRef, useState } from "react"
import { mayAct, useRole } from "../api/session.ts"
import { Button } from "../ui/Button.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"

const CaseTicketDialog = later(() => import("./CaseTicketDialog.tsx"))

interface Props {
  readonly slug: string
  readonly product: string
  readonly one: Case
}

/** Makes a ticket of a test that fails, is flaky or is slow, for whoever looks after it. */
const CaseTicket = (props: Props) => {
  const mayCreate = mayAct(useRole(props.slug), "member")
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const openByKey = () => {
    // The dialog gives the keyboard back to it.
    button.current?.focus()
    setOpen(true)
  }
  useKeys(mayCreate ? [{ keys: "c", label: "Create a ticket about this test", group: "Test", run: openByKey }] : [])
  if (!mayCreate) return null
  return (
    <>
      <Button icon="plus" onClick={() => setOpen(true)} ref={button} shortcut="c">
        Create ticket
      </Button>
      {isOpen && <CaseTicketDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

export default CaseTicket
