import { Button } from "./Button.tsx"

interface Props {
  readonly onDiscard: () => void
  readonly onKeep: () => void
}

/** In place of the buttons of a form, before what was typed is lost. */
export const Discard = ({ onDiscard, onKeep }: Props) => (
  <>
    <p className="flex-1 self-center" role="alert">
      Discard what you typed?
    </p>
    <Button autoFocus onClick={onKeep}>
      Keep typing
    </Button>
    <Button look="danger" onClick={onDiscard}>
      Discard
    </Button>
  </>
)
