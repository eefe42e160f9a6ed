import { useState } from "react"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Select } from "../ui/Select.tsx"

/** A dialog with a select, for the page of all parts. */
const Overlays = ({ onClose }: { readonly onClose: () => void }) => {
  const [role, setRole] = useState<"viewer" | "member">("member")
  return (
    <Dialog
      actions={
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      }
      description="What it is about, in a sentence."
      onClose={onClose}
      title="A dialog"
    >
      <Select
        label="Role"
        onChange={setRole}
        options={[
          { value: "viewer", label: "Viewer", hint: "reads" },
          { value: "member", label: "Member" }
        ]}
        value={role}
      />
    </Dialog>
  )
}

export default Overlays
