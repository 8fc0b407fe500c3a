/** A Docker engine and Compose answer. */
export function hasDocker(): boolean
/** Java 17 or later, in JAVA_HOME or the PATH. */
export function hasJava(): boolean
/** Chromium or Chrome in the PATH. */
export function browserPath(env?: NodeJS.ProcessEnv): string | undefined
/** The Node 24 that `./setup --for-tests` put into kx's cache. */
export function otherNodePath(env?: NodeJS.ProcessEnv): string | undefined
