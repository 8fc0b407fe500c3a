import {BlockList, isIP, isIPv4} from 'node:net'

/**
 * The proxy for a URL, from the variables that curl and most tools know: `https_proxy` or `http_proxy` by the URL's
 * scheme, else `all_proxy`, lower case first; none for what `no_proxy` names. Node 20's own clients ignore them.
 */
export function proxyFor(url: URL, env: NodeJS.ProcessEnv): URL | undefined {
  const scheme = url.protocol.slice(0, -1)
  const said = variable(env, `${scheme}_proxy`) ?? variable(env, 'all_proxy')
  if (said === undefined || bypasses(variable(env, 'no_proxy') ?? '', url)) return undefined
  return new URL(said.includes('://') ? said : `http://${said}`)
}

/**
 * Does a `no_proxy` list name this host? Its entries are `*`, a name (which stands for its subdomains too, with or
 * without a leading dot), an address, a range such as 10.0.0.0/8, each with or without a port.
 */
export function bypasses(noProxy: string, url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(entry => entry !== '')
    .some(entry => {
      if (entry === '*') return true
      if (entry.includes('/')) return inRange(host, entry)
      const [, name = entry, onlyPort] = /^(.*?|\[.*\])(?::(\d+))?$/.exec(isIP(entry) ? `[${entry}]` : entry) ?? []
      if (onlyPort !== undefined && onlyPort !== port) return false
      const bare = name.replace(/^\[|\]$/g, '').replace(/^\*?\./, '')
      return host === bare || (isIP(host) === 0 && host.endsWith(`.${bare}`))
    })
}

/** `user:password@` of a proxy as the header that carries it. */
export function proxyHeaders(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {}
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  return {'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`}
}

function variable(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined
}

function inRange(host: string, range: string): boolean {
  const [network = '', bits = ''] = range.split('/')
  if (isIP(network) === 0 || isIP(host) !== isIP(network)) return false
  if (!/^\d+$/.test(bits) || Number(bits) > (isIPv4(network) ? 32 : 128)) return false
  const family = isIPv4(network) ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(network, Number(bits), family)
  return list.check(host, family)
}
