import { serviceUrl } from "../api/client.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { Ways } from "../ui/Ways.tsx"
import { connectWays } from "./connectLines.ts"

/** The lines that connect a coding agent, for each client. */
const ConnectAgent = ({ onClose, slug }: { readonly slug: string; readonly onClose: () => void }) => (
  <Dialog
    description="The agent works for you, with your role. It opens a page on which you allow it."
    isWide
    onClose={onClose}
    title="Connect an agent"
  >
    <Ways label="The client" ways={connectWays({ serviceUrl, slug })} />
    <p className="text-muted mt-4">
      An agent looks into its inbox when it is told to. Say to it, for example: “Take your messages from delivery, and
      do what they ask.”
    </p>
  </Dialog>
)

export default ConnectAgent
