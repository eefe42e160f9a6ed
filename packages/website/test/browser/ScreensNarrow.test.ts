import { auditScreens, useScreens } from "../support/AuditScreens.ts"

/** Every screen and dialog on narrow screens. Those on wide ones: `Screens`. */

auditScreens(useScreens(), { colorScheme: "dark", width: 320, height: 720 })
