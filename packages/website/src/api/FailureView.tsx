import { later } from "../ui/later.tsx"
import type { FailureProps } from "./FailureText.tsx"

const FailureText = later(() => import("./FailureText.tsx"))

/** In place of content that could not be loaded. */
export const FailureView = (props: FailureProps) => <FailureText {...props} />
