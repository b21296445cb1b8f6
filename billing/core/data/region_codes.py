"""Prefixes of AWS usage types and the regions they stand for: plain data.

Source: AWS's own table of billing codes,
https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-region-billing-codes.html
Older spellings that bills still carry stand beside the current ones.
"""

from __future__ import annotations

from typing import Final

REGION_CODES: Final[dict[str, str]] = {
    "USE1": "us-east-1",
    "USE2": "us-east-2",
    "USW1": "us-west-1",
    "USW2": "us-west-2",
    "CAN1": "ca-central-1",
    "CAN2": "ca-west-1",
    "MXC1": "mx-central-1",
    "AFS1": "af-south-1",
    "CPT": "af-south-1",
    "APE1": "ap-east-1",
    "APE2": "ap-east-2",
    "APN1": "ap-northeast-1",
    "APN2": "ap-northeast-2",
    "APN3": "ap-northeast-3",
    "APS1": "ap-southeast-1",
    "APS2": "ap-southeast-2",
    "APS3": "ap-south-1",
    "APS4": "ap-southeast-3",
    "APS5": "ap-south-2",
    "APS6": "ap-southeast-4",
    "APS7": "ap-southeast-5",
    "APS8": "ap-southeast-6",
    "APS9": "ap-southeast-7",
    "EU": "eu-west-1",
    "EUW1": "eu-west-1",
    "EUW2": "eu-west-2",
    "EUW3": "eu-west-3",
    "EUC1": "eu-central-1",
    "EUC2": "eu-central-2",
    "EUN1": "eu-north-1",
    "EUS1": "eu-south-1",
    "EUS2": "eu-south-2",
    "ILC1": "il-central-1",
    "MEC1": "me-central-1",
    "MES1": "me-south-1",
    "SAE1": "sa-east-1",
    "UGE1": "us-gov-east-1",
    "UGW1": "us-gov-west-1",
    "CNN1": "cn-north-1",
    "CNW1": "cn-northwest-1",
}
