import { startRegistration } from "@simplewebauthn/browser"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { sessionQuery } from "../api/proof.ts"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { passkeysQuery } from "./queries.ts"

/** What the browser has against it, in words of ours. */
const registered = async (optionsJSON: Parameters<typeof startRegistration>[0]["optionsJSON"]) => {
  try {
    return await startRegistration({ optionsJSON })
  } catch (cause) {
    const isKnown = cause instanceof Error && cause.name === "InvalidStateError"
    throw new Error(
      isKnown
        ? "This device has a passkey for this service already."
        : "Your browser made no passkey. Try again, or use another device.",
      { cause }
    )
  }
}

/** Makes a passkey on this device, or on one that the browser finds. */
const AddPasskey = ({ onClose }: { readonly onClose: () => void }) => {
  const [name, setName] = useState("")
  const add = useAction({
    act: async () => {
      const options = await client.auth.passkeyOptions({})
      const response = await registered(options as Parameters<typeof registered>[0])
      return client.auth.addPasskey({ payload: { ...(name.trim() === "" ? {} : { name }), response } })
    },
    done: (passkey) => ({ title: `${passkey.name} signs you in from now on` }),
    changes: [passkeysQuery.queryKey, sessionQuery.queryKey],
    onDone: onClose
  })
  return (
    <FormDialog
      action="Add passkey"
      description="Your browser asks for your finger, your face or the PIN of your device."
      doing={add}
      fields={["name"]}
      isProofNeeded
      onClose={onClose}
      title="Add a passkey"
    >
      <Input
        autoComplete="off"
        autoFocus
        hint="Empty: it is called as this browser."
        issue={issueAt(add.error, "name")}
        label="Name"
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        placeholder="Laptop"
        value={name}
      />
    </FormDialog>
  )
}

export default AddPasskey
