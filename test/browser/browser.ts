import {type Browser, chromium, type Page} from 'playwright-core'
import {browserPath} from '../../scripts/machine.mjs'

export interface OpenPage extends AsyncDisposable {
  readonly page: Page
  /** What a reader would not see: console errors, uncaught exceptions, and requests that left the page's own file. */
  readonly complaints: readonly string[]
}

/**
 * Opens a file in the Chromium or Chrome of this machine (`./setup --for-tests` installs one), as a person would by
 * double-click. Bound: 30 s for the start and for the page.
 */
export async function openFile(path: string, size = {width: 1280, height: 900}): Promise<OpenPage> {
  const browser = await launch()
  try {
    const page = await browser.newPage({viewport: size})
    const complaints: string[] = []
    page.on('console', message => {
      if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
    })
    page.on('pageerror', error => complaints.push(`uncaught: ${error.message}`))
    page.on('request', request => {
      if (!/^(file|data|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`)
    })
    await page.goto(new URL(path, 'file:///').href, {waitUntil: 'load', timeout: 30_000})
    return {page, complaints, [Symbol.asyncDispose]: () => browser.close()}
  } catch (error) {
    await browser.close()
    throw error
  }
}

async function launch(): Promise<Browser> {
  const executablePath = browserPath()
  if (!executablePath) throw new Error('There is no Chromium in the PATH: ./setup --for-tests installs one.')
  // Chromium's sandbox does not start for root, which is who runs tests in most containers.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({executablePath, args, timeout: 30_000})
}
