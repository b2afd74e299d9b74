/** A parameter of the challenges in `WWW-Authenticate`; undefined when there is none of this name. */
export function challengeParameter(challenges: string, name: string): string | undefined {
  // Each match ends behind a whole value, so that nothing inside a quoted text counts as a parameter.
  for (const [, found = '', quoted, token] of challenges.matchAll(parameters)) {
    if (found.toLowerCase() === name) return quoted === undefined ? token : quoted.replace(/\\(.)/gs, '$1')
  }
  return undefined
}

const parameters = /([\w-]{1,100})\s{0,10}=\s{0,10}(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gs
