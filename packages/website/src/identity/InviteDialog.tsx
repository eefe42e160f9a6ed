import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { Role } from "@delivery/domain/identity/Role"
import { useState } from "react"
import { client } from "../api/client.ts"
import { failureOf, issueAt, isUnconfirmed } from "../api/failures.ts"
import { workspaceKey } from "../api/queries.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { Command } from "../ui/States.tsx"
import { ConfirmLink } from "./ConfirmLink.tsx"

const roles = [
  { value: "viewer", label: "Viewer", hint: "reads" },
  { value: "member", label: "Member", hint: "reads and changes" },
  { value: "admin", label: "Admin", hint: "manages the workspace" },
  { value: "owner", label: "Owner", hint: "everything" }
] as const

/** Invites an address. Where no mail is sent, the link is shown, once. */
const InviteDialog = ({ onClose, slug }: { readonly slug: string; readonly onClose: () => void }) => {
  const [email, setEmail] = useState("")
  const [role, setRole] = useState<Role>("member")
  const queries = useQueryClient()
  const invite = useMutation({
    mutationFn: () => client.invites.create({ params: { slug }, payload: { email, role } }),
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: workspaceKey(slug, "invites") })
  })
  const failure = invite.error === null ? undefined : failureOf(invite.error)
  if (invite.data !== undefined) {
    const { url } = invite.data
    return (
      <Dialog
        actions={
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        }
        description={
          url === undefined
            ? `The invite was mailed to ${email}.`
            : `Pass this link on to ${email}. It is shown this once, and works once, for 7 days.`
        }
        isPersistent
        onClose={onClose}
        title="Invited"
      >
        {url !== undefined && <Command text={url} />}
      </Dialog>
    )
  }
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {failure !== undefined && isUnconfirmed(failure) && <ConfirmLink />}
          <Button disabled={email === ""} isBusy={invite.isPending} look="primary" onClick={() => invite.mutate()}>
            Invite
          </Button>
        </>
      }
      isPersistent
      onClose={onClose}
      title="Invite somebody"
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          invite.mutate()
        }}
      >
        <Input
          autoComplete="off"
          autoFocus
          issue={issueAt(invite.error, "email") ?? failure?.message}
          label="Email address"
          onChange={(event) => setEmail(event.target.value)}
          type="email"
          value={email}
        />
        <Select label="Role" onChange={setRole} options={roles} value={role} />
      </form>
    </Dialog>
  )
}

export default InviteDialog
