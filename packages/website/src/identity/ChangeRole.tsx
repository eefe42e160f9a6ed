import type { Member } from "@delivery/domain/identity/Member"
import { useState } from "react"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { mayAct } from "../api/session.ts"
import SureDialog from "../api/SureDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { KeepAccountKeys, keeping } from "./KeepAccountKeys.tsx"
import { NewOwner } from "./NewOwner.tsx"

interface Props {
  readonly member: Member
  readonly role: Member["role"]
  readonly slug: string
  readonly onClose: () => void
}

interface LowerProps extends Pick<Props, "role"> {
  readonly isKept: boolean
  readonly onKept: (isKept: boolean) => void
}

const Lower = ({ isKept, onKept, role }: LowerProps) => (
  <>
    <p>
      What they made that may do more than a {role} ends:{" "}
      {isKept ? "invites and trusted publishers" : "account API keys, invites and trusted publishers"}.
      {role === "viewer" && " The runs that they publish are interrupted."}
    </p>
    <p>You can give them the role again, but what ended does not come back.</p>
    <KeepAccountKeys isKept={isKept} onChange={onKept} />
  </>
)

/** Asks before somebody becomes an owner, or has a lower role. */
const ChangeRole = ({ member, onClose, role, slug }: Props) => {
  const name = member.name
  const [isKept, setKept] = useState(false)
  const change = useAction({
    act: () => client.members.update({ params: { slug, member: member.id }, payload: { role, ...keeping(isKept) } }),
    done: () => ({ title: `${name} is ${role} now` }),
    changes: [workspaceKey(slug, "members")],
    onDone: onClose
  })
  return (
    <SureDialog action={`Make them ${role}`} doing={change} onClose={onClose} title={`Make ${name} ${role}?`}>
      {mayAct(role, member.role) ? <NewOwner /> : <Lower isKept={isKept} onKept={setKept} role={role} />}
    </SureDialog>
  )
}

export default ChangeRole
