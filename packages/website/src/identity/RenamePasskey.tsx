import type { Passkey } from "@delivery/domain/auth/Passkey"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { passkeysQuery } from "./queries.ts"

const RenamePasskey = ({ onClose, passkey }: { readonly passkey: Passkey; readonly onClose: () => void }) => {
  const [name, setName] = useState(passkey.name)
  const rename = useAction({
    act: () => client.auth.renamePasskey({ params: { passkey: passkey.id }, payload: { name } }),
    changes: [passkeysQuery.queryKey],
    onDone: onClose
  })
  return (
    <FormDialog
      action="Rename"
      doing={rename}
      fields={["name"]}
      isReady={name.trim() !== ""}
      onClose={onClose}
      title="Rename the passkey"
    >
      <Input
        autoComplete="off"
        autoFocus
        issue={issueAt(rename.error, "name")}
        label="Name"
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        value={name}
      />
    </FormDialog>
  )
}

export default RenamePasskey
