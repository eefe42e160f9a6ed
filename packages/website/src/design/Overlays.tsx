import { useState } from "react"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { type Overlap, OverlapField } from "../ui/Overlap.tsx"
import { Select } from "../ui/Select.tsx"
import { Ways } from "../ui/Ways.tsx"

/** A dialog with a select, for the page of all parts. */
const Overlays = ({ onClose }: { readonly onClose: () => void }) => {
  const [role, setRole] = useState<"viewer" | "member">("member")
  const [overlap, setOverlap] = useState<Overlap>("86400")
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
      <OverlapField label="The old one goes on for" onChange={setOverlap} value={overlap} />
      <Ways
        label="Where it runs"
        ways={[
          { name: "Docker", lines: [{ label: "compose.yaml", text: "services: {}" }] },
          { name: "Shell", lines: [{ label: "In a shell", text: "node server.js" }] }
        ]}
      />
    </Dialog>
  )
}

export default Overlays
