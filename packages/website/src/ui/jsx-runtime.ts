import type { ElementType, Key, ReactElement } from "react"
import * as react from "react/jsx-runtime"
import { visibleProps } from "./visibleProps.ts"

export { Fragment, type JSX } from "react/jsx-runtime"

/** React's own, of `visibleProps`. */
export const jsx = (type: ElementType, props: Record<string, unknown>, key?: Key): ReactElement =>
  react.jsx(type, visibleProps(type, props), key)

/** Of several children React warns as of one, in development alone: that is of `jsx-dev-runtime`. */
export const jsxs = jsx
