"""Who is looking at a page: proven, or nobody.

base.py       what an identity is, and the one that recognizes nobody
loopback.py   the user of this machine
oidc.py       the user who signs in with the issuer
proxy.py      the user that a fronting proxy vouches for, signed
custom.py     the user that the author's own function names
jwt.py        signed tokens and their keys
"""

from midcall.portal.identity.base import Caller, Identity, Key
from midcall.portal.identity.custom import FromCallable
from midcall.portal.identity.loopback import Loopback
from midcall.portal.identity.oidc import Oidc
from midcall.portal.identity.proxy import ProxyJwt

__all__ = ["Caller", "FromCallable", "Identity", "Key", "Loopback", "Oidc", "ProxyJwt"]
