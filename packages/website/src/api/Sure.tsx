import { useEffect, useState } from "react"
import { Button } from "../ui/Button.tsx"
import type { SureProps } from "./SureDialog.tsx"
import { later } from "../ui/later.tsx"

const SureDialog = later(() => import("./SureDialog.tsx"))

interface Props extends Omit<SureProps, "onClose" | "action" | "doing"> {
  readonly verb: string
  /** What it is done to, for screen readers, where what stands around the button does not say it. */
  readonly subject?: string
  /** The verb on the button of the dialog, where it says more. */
  readonly action?: string
  readonly doing: SureProps["doing"] & { readonly isSuccess: boolean; readonly reset: () => void }
  readonly look?: "quiet" | "plain" | "danger"
}

/** A button that asks in a dialog before it does what others notice. */
export const Sure = ({ action, doing, look = "quiet", subject, verb, ...rest }: Props) => {
  const [isOpen, setOpen] = useState(false)
  const { isSuccess, reset } = doing
  useEffect(() => {
    if (!isSuccess) return
    setOpen(false)
    reset()
  }, [isSuccess, reset])
  const close = () => {
    setOpen(false)
    reset()
  }
  return (
    <>
      <Button
        aria-label={subject === undefined ? undefined : `${verb} ${subject}`}
        look={look}
        onClick={() => setOpen(true)}
      >
        {verb}
      </Button>
      {isOpen && <SureDialog {...rest} action={action ?? verb} doing={doing} onClose={close} />}
    </>
  )
}
