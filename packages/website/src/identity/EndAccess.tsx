import type { Member } from "@delivery/domain/identity/Member"
import { useState } from "react"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import SureDialog from "../api/SureDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { KeepAccountKeys, keeping } from "./KeepAccountKeys.tsx"

interface Props {
  readonly member: Member
  readonly slug: string
  readonly onClose: () => void
}

/** Asks before a member loses access: what ends with it does not come back. */
const EndAccess = ({ member, onClose, slug }: Props) => {
  const name = member.name
  const [isKept, setKept] = useState(false)
  const end = useAction({
    act: () => client.members.deactivate({ params: { slug, member: member.id }, payload: keeping(isKept) }),
    done: () => ({ title: `${name} has no access any more` }),
    changes: [workspaceKey(slug, "members")],
    onDone: onClose
  })
  return (
    <SureDialog action="End access" doing={end} onClose={onClose} title={`End the access of ${name}?`}>
      <p>
        Their keys stop working here, their agents leave its lists, and the runs that they publish are interrupted.
        {isKept ? " Invites" : " Account API keys that they made are revoked, and invites"} that they made and nobody
        has accepted end.
      </p>
      <p>What they did stays. You can give them access again, but what ended does not come back.</p>
      <KeepAccountKeys isKept={isKept} onChange={setKept} />
    </SureDialog>
  )
}

export default EndAccess
