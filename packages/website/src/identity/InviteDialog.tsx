import type { Role } from "@delivery/domain/identity/Role"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { ShownOnce } from "../ui/ShownOnce.tsx"
import { keyRoles } from "./KeyLimits.tsx"
import { NewOwner } from "./NewOwner.tsx"
import { invitesQuery, methodsQuery } from "./queries.ts"

const roles = [...keyRoles, { value: "owner", label: "Owner", hint: "everything" }] as const

/** Invites an address. Where no mail is sent, the link is shown, once. */
const InviteDialog = ({ onClose, slug }: { readonly slug: string; readonly onClose: () => void }) => {
  const [email, setEmail] = useState("")
  const [role, setRole] = useState<Role>("member")
  const { data: methods } = useQuery(methodsQuery)
  const invite = useAction({
    act: () => client.invites.create({ params: { slug }, payload: { email, role } }),
    changes: [invitesQuery(slug).queryKey]
  })
  if (invite.data !== undefined) {
    const { url } = invite.data
    if (url === undefined) {
      return (
        <Dialog
          actions={
            <Button look="primary" onClick={onClose}>
              Done
            </Button>
          }
          onClose={onClose}
          title="Invited"
        >
          <p>The invite was mailed to {email}.</p>
        </Dialog>
      )
    }
    return (
      <ShownOnce
        description={`Pass this link on to ${email}. It is shown this once, and works once, for 7 days.`}
        onClose={onClose}
        secret={url}
        title="Invited"
      />
    )
  }
  return (
    <FormDialog
      action={role === "owner" ? "Invite an owner" : "Invite"}
      doing={invite}
      fields={["email"]}
      isDangerous={role === "owner"}
      isProofNeeded={methods?.mail === false || role === "admin" || role === "owner"}
      isReady={email !== ""}
      onClose={onClose}
      title="Invite somebody"
    >
      <Input
        autoComplete="off"
        autoFocus
        issue={issueAt(invite.error, "email")}
        label="Email address"
        onChange={(event) => setEmail(event.target.value)}
        type="email"
        value={email}
      />
      <Select label="Role" onChange={setRole} options={roles} value={role} />
      {role === "owner" && <NewOwner />}
    </FormDialog>
  )
}

export default InviteDialog
