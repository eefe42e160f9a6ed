import type { Lines } from "../ui/Ways.tsx"

/** The lines with which a product reads its secrets by a token, as docs/secrets.md has them. None has the token. Pure. */

interface Target {
  readonly serviceUrl: string
  readonly product: string
}

/** The token goes into a file that its user alone reads, and into no history of the shell. */
const keepToken: Lines = {
  label: "Put the token into a file. Paste it when the line waits, then press Enter",
  text: `(umask 077 && read -rs token && printf %s "$token" > delivery_token)`
}

const shell = ({ product, serviceUrl }: Target): ReadonlyArray<Lines> => [
  keepToken,
  {
    label: "Start the product with its secrets",
    text: `export DELIVERY_URL=${serviceUrl}
DELIVERY_TOKEN_FILE=delivery_token npx @delivery/cli secrets run -- node server.js`
  },
  {
    label: "Or write them to a file",
    text: `(umask 077 && curl -fsS -H "Authorization: Bearer $(cat delivery_token)" \\
  "${serviceUrl}/deploy/v1/secrets?format=env" -o ${product}.env)`
  }
]

const docker = ({ product, serviceUrl }: Target): ReadonlyArray<Lines> => [
  keepToken,
  {
    label: "compose.yaml, where the image has @delivery/cli",
    text: `services:
  ${product}:
    image: ${product}
    entrypoint: ["delivery", "secrets", "run", "--watch", "--fallback", "/var/lib/${product}/secrets", "--"]
    command: ["node", "server.js"]
    init: true
    environment:
      DELIVERY_URL: ${serviceUrl}
      DELIVERY_TOKEN_FILE: /run/secrets/delivery_token
    secrets: [delivery_token]
    volumes: ["${product}:/var/lib/${product}"]
secrets:
  delivery_token:
    file: ./delivery_token
volumes:
  ${product}: {}`
  },
  {
    label: "An image without Node takes a file",
    text: `(umask 077 && curl -fsS -H "Authorization: Bearer $(cat delivery_token)" \\
  "${serviceUrl}/deploy/v1/secrets?format=docker" -o docker.env)
docker run --rm --env-file docker.env ${product}`
  }
]

const kubernetes = ({ product, serviceUrl }: Target): ReadonlyArray<Lines> => [
  keepToken,
  {
    label: "Give it to External Secrets",
    text: `kubectl create secret generic delivery-token --from-file=token=delivery_token
kubectl label secret delivery-token external-secrets.io/type=webhook
kubectl apply -f ${product}.yaml`
  },
  {
    label: `${product}.yaml, with the names that the product needs`,
    text: `apiVersion: external-secrets.io/v1
kind: SecretStore
metadata:
  name: delivery
spec:
  provider:
    webhook:
      url: "${serviceUrl}/deploy/v1/secrets/{{ .remoteRef.key }}"
      method: GET
      timeout: 10s
      headers:
        Accept: application/json
        Authorization: "Bearer {{ .auth.token }}"
      result:
        jsonPath: "$.value"
      secrets:
        - name: auth
          secretRef:
            name: delivery-token
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: ${product}
spec:
  refreshInterval: 1m
  secretStoreRef:
    kind: SecretStore
    name: delivery
  target:
    name: ${product}
  data:
    - secretKey: DATABASE_URL
      remoteRef:
        key: DATABASE_URL`
  }
]

const systemd = ({ product, serviceUrl }: Target): ReadonlyArray<Lines> => [
  keepToken,
  {
    label: "Encrypt it for this machine",
    text: `systemd-creds encrypt --name=delivery_token delivery_token /etc/${product}/delivery_token.cred
shred -u delivery_token`
  },
  {
    label: `${product}.service`,
    text: `[Service]
DynamicUser=yes
StateDirectory=${product}
LoadCredentialEncrypted=delivery_token:/etc/${product}/delivery_token.cred
Environment=DELIVERY_URL=${serviceUrl}
Environment=DELIVERY_TOKEN_FILE=%d/delivery_token
ExecStart=/usr/local/bin/delivery secrets run --watch --fallback %S/${product}/secrets -- /usr/bin/node /srv/${product}/server.js
Restart=on-failure`
  }
]

export const waysOf = (target: Target) => [
  { name: "Docker", lines: docker(target) },
  { name: "Kubernetes", lines: kubernetes(target) },
  { name: "systemd", lines: systemd(target) },
  { name: "Shell", lines: shell(target) }
]
