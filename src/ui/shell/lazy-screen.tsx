import { type ComponentType, useEffect, useState } from 'react'
import { Loading } from '../parts/states.tsx'

/**
 * Shows a screen once its file has loaded. It does not use `Suspense`, which keeps a fallback on the page for at least
 * 300 ms once it is shown.
 */
export function LazyScreen<Params extends object>({ file, params }: { file: ScreenFile<Params>; params: Params }) {
  const [asked, setAsked] = useState<{ file: object; error?: { cause: unknown } }>()
  const Screen = file.screen
  useEffect(() => {
    // This was rendered; the file may have loaded since.
    if (Screen) return
    file.load().then(
      () => setAsked({ file }),
      (cause: unknown) => setAsked({ file, error: { cause } }),
    )
  }, [file, Screen])
  // Caught by the boundary around screens.
  if (asked?.file === file && asked.error) throw asked.error.cause
  return Screen ? <Screen params={params} /> : <Loading />
}

type Screen<Params> = ComponentType<{ params: Params }>

/** The file of a screen, loaded on first use. */
export class ScreenFile<Params extends object = object> {
  readonly #fetch: () => Promise<Screen<Params>>
  #screen: Screen<Params> | undefined

  constructor(fetch: () => Promise<Screen<Params>>) {
    this.#fetch = fetch
  }

  /** Undefined until loaded. */
  get screen(): Screen<Params> | undefined {
    return this.#screen
  }

  async load(): Promise<Screen<Params>> {
    this.#screen ??= await this.#fetch()
    return this.#screen
  }
}
